// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Ibex's event counters: mhpmcounter3 to 12, which have 32 bits on Earl Grey. Each counter's event is
//! hard-wired; Perf's documentation lists them.

use riscv::register::mcountinhibit::{self, Mcountinhibit};

/// A counter's number is part of the instruction that reads it, so each counter needs its own
/// instruction.
macro_rules! counters {
    ($($number:literal $counter:ident),+) => {
        /// Bit N: counter N exists.
        const ALL: u32 = $(1 << $number)|+;

        #[inline(always)]
        pub fn read(number: u32) -> Option<u64> {
            match number {
                $($number => Some(riscv::register::$counter::read() as u64),)+
                _ => None,
            }
        }

        /// Sets the counters in `mask` to zero.
        #[inline(always)]
        fn clear(mask: u32) {
            $(if mask & 1 << $number != 0 {
                // Safety: the kernel does not use these counters.
                unsafe { riscv::register::$counter::write(0) }
            })+
        }
    };
}

counters!(
    3 mhpmcounter3, 4 mhpmcounter4, 5 mhpmcounter5, 6 mhpmcounter6, 7 mhpmcounter7,
    8 mhpmcounter8, 9 mhpmcounter9, 10 mhpmcounter10, 11 mhpmcounter11, 12 mhpmcounter12
);

/// Starts the counters in `mask` from zero and stops the others. None if one of them does not exist.
#[inline(always)]
pub fn start(mask: u32) -> Option<()> {
    if mask & !ALL != 0 {
        return None;
    }
    inhibit(ALL);
    clear(mask);
    inhibit(ALL & !mask);
    Some(())
}

/// Only event counters are ever stopped: the bits of mcycle and minstret stay zero.
#[inline(always)]
fn inhibit(events: u32) {
    // Safety: the kernel does not use these counters.
    unsafe { mcountinhibit::write(Mcountinhibit::from_bits(events as usize)) }
}
