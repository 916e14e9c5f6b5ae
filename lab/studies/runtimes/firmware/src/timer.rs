// SPDX-License-Identifier: Apache-2.0 OR MIT

//! rv_timer: a count of microseconds, and one moment at which it interrupts. Neither RTIC nor Embassy has a
//! driver for it.

use crate::uart::{load, store};

const BASE: usize = 0x4010_0000;
const CTRL: usize = BASE + 0x4;
const INTR_ENABLE: usize = BASE + 0x100;
const INTR_STATE: usize = BASE + 0x104;
const CFG: usize = BASE + 0x10c;
const VALUE_LOW: usize = BASE + 0x110;
const VALUE_HIGH: usize = BASE + 0x114;
const COMPARE_LOW: usize = BASE + 0x118;
const COMPARE_HIGH: usize = BASE + 0x11c;
/// Every 6 clocks of 6 MHz the time grows by 1.
const MICROSECOND: u32 = 1 << 16 | 5;

/// A moment that never comes.
pub const NEVER: u64 = u64::MAX;
/// A second, in ticks.
pub const SECOND: u64 = 1_000_000;

/// Starts the time at zero, without an interrupt.
pub fn set_up() {
    store(CTRL, 0);
    store(CFG, MICROSECOND);
    store(VALUE_LOW, 0);
    store(VALUE_HIGH, 0);
    set(NEVER);
    store(INTR_ENABLE, 1);
    store(CTRL, 1);
}

/// The time in microseconds.
pub fn now() -> u64 {
    loop {
        let high = load(VALUE_HIGH);
        let low = load(VALUE_LOW);
        if load(VALUE_HIGH) == high {
            return u64::from(high) << 32 | u64::from(low);
        }
    }
}

/// Sets the moment of the interrupt: at once if it has passed.
pub fn set(moment: u64) {
    store(COMPARE_HIGH, u32::MAX); // no mix of old and new halves interrupts
    store(COMPARE_LOW, moment as u32);
    store(COMPARE_HIGH, (moment >> 32) as u32);
    store(INTR_STATE, 1);
}

/// The moment of the interrupt.
pub fn due() -> u64 {
    u64::from(load(COMPARE_HIGH)) << 32 | u64::from(load(COMPARE_LOW))
}

/// The time until the alarm of a sample. It varies, so that samples begin at any point of other work.
pub fn delay(sample: u32) -> u64 {
    u64::from(200 + sample * 37 % 256)
}
