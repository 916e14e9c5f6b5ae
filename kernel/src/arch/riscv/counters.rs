// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The counters cycle and instret for user mode, in the variant `open-counters`. If the core has them in
//! user mode, they are opened. Ibex does not: reading one traps, and the kernel reads it for the process.

use super::EarlGrey;
use core::arch::{asm, global_asm};
use tockmark_perf::Counters;

// For trap.S, which is assembled after this.
global_asm!(".set FAULTS_CHANGE_KEPT, 1");

/// Opens cycle, time and instret. Ibex ignores it.
pub fn open() {
    // Safety: it only decides which counters user mode may read.
    unsafe { asm!("csrw mcounteren, {}", in(reg) 7, options(nomem, nostack)) }
}

/// Executes an instruction that reads a counter (csrrs rd, counter, x0) for the process with these
/// registers, where word 0 is its program counter. Returns false if it is another instruction.
pub fn read_for(registers: &mut [u32; 32], instruction: u32) -> bool {
    const READS: u32 = 0x2073; // plus the counter in bits 20 to 31 and rd in bits 7 to 11
    const RD: u32 = 31 << 7;
    if instruction & !(0xfff << 20) & !RD != READS {
        return false;
    }
    let value = match instruction >> 20 {
        0xc00 => EarlGrey.cycles(),
        0xc02 => EarlGrey.instructions(),
        0xc80 => EarlGrey.cycles_high(),
        0xc82 => EarlGrey.instructions_high(),
        _ => return false,
    };
    let rd = (instruction & RD) >> 7;
    if rd != 0 {
        registers[rd as usize] = value;
    }
    registers[0] += 4;
    true
}
