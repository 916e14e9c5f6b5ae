// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The interrupt controller, for the one external interrupt that the kernel asks for.

use tock_registers::interfaces::{Readable, Writeable};
use tock_registers::register_structs;
use tock_registers::registers::ReadWrite;

register_structs! {
    Registers {
        (0x0000000 => priority: [ReadWrite<u32>; 185]),
        (0x00002E4 => _reserved0),
        (0x0002000 => enable: [ReadWrite<u32>; 6]),
        (0x0002018 => _reserved1),
        (0x0200000 => threshold: ReadWrite<u32>),
        (0x0200004 => claim: ReadWrite<u32>),
        (0x0200008 => @END),
    }
}

const BASE: usize = 0x4800_0000;

/// UART 0 has sent all that it was given.
pub const UART_SENT: u32 = 3;

fn registers() -> &'static Registers {
    // Safety: the PLIC's registers are at this address on Earl Grey, always mapped, and laid out as
    // above.
    unsafe { &*core::ptr::with_exposed_provenance(BASE) }
}

pub fn set_up() {
    let plic = registers();
    for word in &plic.enable {
        word.set(0);
    }
    plic.priority[UART_SENT as usize].set(1);
    plic.enable[0].set(1 << UART_SENT);
    plic.threshold.set(0);
}

/// The source that interrupts, from now on being served; 0: none.
pub fn claim() -> u32 {
    registers().claim.get()
}

/// That source may interrupt again.
pub fn complete(source: u32) {
    registers().claim.set(source);
}
