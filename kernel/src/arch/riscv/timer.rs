// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The machine timer, rv_timer: 64 bits of microseconds since the start, and one moment to interrupt
//! at.

use tock_registers::interfaces::{Readable, Writeable};
use tock_registers::register_structs;
use tock_registers::registers::ReadWrite;

register_structs! {
    Registers {
        (0x000 => _alert_test),
        (0x004 => ctrl: ReadWrite<u32>),
        (0x008 => _reserved),
        (0x100 => intr_enable: ReadWrite<u32>),
        (0x104 => intr_state: ReadWrite<u32>),
        (0x108 => _intr_test),
        (0x10C => cfg: ReadWrite<u32>),
        (0x110 => value_low: ReadWrite<u32>),
        (0x114 => value_high: ReadWrite<u32>),
        (0x118 => compare_low: ReadWrite<u32>),
        (0x11C => compare_high: ReadWrite<u32>),
        (0x120 => @END),
    }
}

const BASE: usize = 0x4010_0000;
const PERIPHERAL_CLOCK: u32 = 6_000_000;

pub const TICKS_PER_SECOND: u32 = 1_000_000;

/// Each tick adds this (bits 16 and up) and takes this many clocks, less one (bits 0 and up).
const CFG: u32 = 1 << 16 | (PERIPHERAL_CLOCK / TICKS_PER_SECOND - 1);

fn registers() -> &'static Registers {
    // Safety: rv_timer's registers are at this address on Earl Grey, always mapped, and laid out as
    // above.
    unsafe { &*core::ptr::with_exposed_provenance(BASE) }
}

/// Starts the time at zero, with no interrupt asked for.
pub fn set_up() {
    let timer = registers();
    timer.ctrl.set(0);
    timer.cfg.set(CFG);
    timer.value_low.set(0);
    timer.value_high.set(0);
    set(None);
    timer.intr_enable.set(1);
    timer.ctrl.set(1);
}

/// The time in ticks.
pub fn now() -> u64 {
    let timer = registers();
    loop {
        let high = timer.value_high.get();
        let low = timer.value_low.get();
        // If the low half has carried into the high half since, the two do not belong together.
        if timer.value_high.get() == high {
            return u64::from(high) << 32 | u64::from(low);
        }
    }
}

/// Interrupts at this moment, or never; at once, if it has passed.
pub fn set(moment: Option<u64>) {
    let timer = registers();
    let moment = moment.unwrap_or(u64::MAX);
    // The high half goes to the far future first, so that no mix of old and new halves interrupts.
    timer.compare_high.set(u32::MAX);
    timer.compare_low.set(moment as u32);
    timer.compare_high.set((moment >> 32) as u32);
    timer.intr_state.set(1);
}
