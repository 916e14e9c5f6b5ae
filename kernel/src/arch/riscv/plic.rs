// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The interrupt controller, for the two external interrupts that the kernel enables.

use super::machine::{self, Plic, UART_RECEIVED, UART_SENT};
use tock_registers::interfaces::{Readable, Writeable};

fn registers() -> &'static Plic {
    // Safety: on this machine the PLIC's registers are at this address, always mapped, with this
    // layout.
    unsafe { &*core::ptr::with_exposed_provenance(machine::PLIC_BASE) }
}

pub fn set_up() {
    let plic = registers();
    for word in &plic.enable {
        word.set(0);
    }
    for place in machine::UART_PRIORITIES {
        plic.priority[place].set(1);
    }
    const WORD: u32 = UART_SENT / 32;
    const { assert!(UART_RECEIVED / 32 == WORD) };
    plic.enable[WORD as usize].set(1 << (UART_SENT % 32) | 1 << (UART_RECEIVED % 32));
    plic.threshold.set(0);
}

/// Claims the interrupt and returns its source; 0 if there is none.
pub fn claim() -> u32 {
    registers().claim.get()
}

/// Completes the interrupt of that source, which may then interrupt again.
pub fn complete(source: u32) {
    registers().claim.set(source);
}
