// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Ibex's cycle counter for the capsule CycleCount, which lets one app start, stop and reset it.
//!
//! mcycle is shared, so it is only read: stopping it with mcountinhibit would also stop it for the kernel
//! and for other drivers. Start, stop and reset change the start value of the count.

use core::cell::Cell;
use kernel::hil::hw_debug::CycleCounter;
use rv32i::csr::CSR;

pub struct IbexCycleCounter {
    running: Cell<bool>,
    // While running: the value of mcycle at count 0. While stopped: the count.
    from: Cell<u64>,
}

impl IbexCycleCounter {
    pub const fn new() -> Self {
        Self {
            running: Cell::new(false),
            from: Cell::new(0),
        }
    }

    fn run(&self, running: bool) {
        if self.running.replace(running) != running {
            // The conversion between the two meanings is the same both ways.
            self.from
                .set(CSR.read_cycle_counter().wrapping_sub(self.from.get()));
        }
    }
}

impl CycleCounter for IbexCycleCounter {
    fn start(&self) {
        self.run(true)
    }

    fn stop(&self) {
        self.run(false)
    }

    fn count(&self) -> u64 {
        if self.running.get() {
            CSR.read_cycle_counter().wrapping_sub(self.from.get())
        } else {
            self.from.get()
        }
    }

    fn reset(&self) {
        self.running.set(false);
        self.from.set(0);
    }
}
