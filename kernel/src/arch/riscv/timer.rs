// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The machine timer, rv_timer: a 64-bit count of microseconds since the start, and one moment at which
//! it interrupts.

use super::machine::{self, NEVER, TIMER_CLOCKS, TIMER_STEP, Timer};
use tock_registers::interfaces::{Readable, Writeable};
use tockmark_perf::commands::read_wide;

pub const TICKS_PER_SECOND: u32 = 1_000_000;

/// What a step adds to the time (bits 16 and up), and how many clocks a step takes, minus one (bits 0
/// and up).
const CFG: u32 = TIMER_STEP << 16 | (TIMER_CLOCKS - 1);

const _: () = assert!(machine::PERIPHERAL_CLOCK * TIMER_STEP == TICKS_PER_SECOND * TIMER_CLOCKS);

fn registers() -> &'static Timer {
    // Safety: on this machine rv_timer's registers are at this address, always mapped, with this
    // layout.
    unsafe { &*core::ptr::with_exposed_provenance(machine::TIMER_BASE) }
}

/// Starts the time at zero, without an interrupt.
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
    read_wide(|| timer.value_high.get(), || timer.value_low.get())
}

/// Sets the timer to interrupt at this moment: never if None, at once if it has passed.
pub fn set(moment: Option<u64>) {
    let timer = registers();
    let moment = moment.unwrap_or(NEVER);
    // The high half is set to its maximum first, so that no mix of old and new halves interrupts.
    timer.compare_high.set((NEVER >> 32) as u32);
    timer.compare_low.set(moment as u32);
    timer.compare_high.set((moment >> 32) as u32);
    timer.intr_state.set(1);
}
