// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The interrupt controller, for the one external interrupt that the kernel enables.

use super::machine::{self, Plic, UART_SENT};
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
    for place in machine::UART_SENT_PRIORITY {
        plic.priority[place].set(1);
    }
    plic.enable[UART_SENT as usize / 32].set(1 << (UART_SENT % 32));
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
