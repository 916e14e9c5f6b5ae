// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Ibex's event counters: mhpmcounter3 to 12, of which Earl Grey's have 32 bits. What each counts is
//! hard-wired; Perf's documentation has the list.

use riscv::register::mcountinhibit::{self, Mcountinhibit};

/// A counter's number is part of the instruction that reads it, so each needs an instruction of its
/// own.
macro_rules! counters {
    ($($number:literal $counter:ident),+) => {
        /// Bit N: there is a counter N.
        const ALL: u32 = $(1 << $number)|+;

        #[inline(always)]
        pub fn read(number: u32) -> Option<u64> {
            match number {
                $($number => Some(riscv::register::$counter::read() as u64),)+
                _ => None,
            }
        }

        /// Sets those in `mask` to zero.
        #[inline(always)]
        fn clear(mask: u32) {
            $(if mask & 1 << $number != 0 {
                // Safety: the kernel itself counts nothing.
                unsafe { riscv::register::$counter::write(0) }
            })+
        }
    };
}

counters!(
    3 mhpmcounter3, 4 mhpmcounter4, 5 mhpmcounter5, 6 mhpmcounter6, 7 mhpmcounter7,
    8 mhpmcounter8, 9 mhpmcounter9, 10 mhpmcounter10, 11 mhpmcounter11, 12 mhpmcounter12
);

/// Starts those in `mask` from zero and stops the others; None if one of them is not there.
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
    // Safety: the kernel itself counts nothing.
    unsafe { mcountinhibit::write(Mcountinhibit::from_bits(events as usize)) }
}
