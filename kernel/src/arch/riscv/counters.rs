// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The counters cycle and instret for user mode, in the variant `open-counters`. Where the core has
//! them, they are opened; Ibex has none, so that reading one traps, and is done here.

use super::EarlGrey;
use core::arch::{asm, global_asm};
use tockmark_perf::Counters;

// For trap.S, which comes behind it.
global_asm!(".set FAULTS_CHANGE_KEPT, 1");

/// Opens cycle, time and instret. Ibex ignores it.
pub fn open() {
    // Safety: what user mode may read is all that it decides.
    unsafe { asm!("csrw mcounteren, {}", in(reg) 7, options(nomem, nostack)) }
}

/// Carries an instruction out that reads a counter (csrrs rd, counter, x0) for the process of these
/// registers, x0 being its program counter; false if it is another one.
pub fn read_for(registers: &mut [u32; 32], instruction: u32) -> bool {
    const READS: u32 = 0x2073; // and the counter in bits 20 to 31, rd in bits 7 to 11
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
