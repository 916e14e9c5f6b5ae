// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The counters of Earl Grey's Ibex, for Perf: mcycle, minstret, and the ten event counters 3 to 12.

use capsules_extra::perf::commands::Counters;
use core::arch::asm;
use kernel::utilities::registers::interfaces::Readable;
use rv32i::csr::CSR;

pub struct IbexCounters;

impl Counters for IbexCounters {
    fn cycles(&self) -> u32 {
        CSR.mcycle.get() as u32
    }

    fn cycles_high(&self) -> u32 {
        CSR.mcycleh.get() as u32
    }

    fn instructions(&self) -> u32 {
        CSR.minstret.get() as u32
    }

    fn instructions_high(&self) -> u32 {
        CSR.minstreth.get() as u32
    }

    fn event(&self, number: u32) -> Option<u64> {
        read(number).map(u64::from)
    }

    fn start_events(&self, mask: u32) -> Option<()> {
        if mask & !ALL != 0 {
            return None;
        }
        inhibit(ALL);
        clear(mask);
        inhibit(ALL & !mask);
        Some(())
    }
}

/// A counter's number is part of the instruction that reads it, so each counter needs its own instruction.
/// The number is part of the text, because a compiler of July 2024 accepts no constants as operands.
macro_rules! event_counters {
    ($($number:literal),+) => {
        /// Bit N: counter N exists.
        const ALL: u32 = $(1 << $number)|+;

        fn read(number: u32) -> Option<u32> {
            match number {
                $($number => {
                    let value;
                    // Safety: reading an event counter changes nothing.
                    unsafe {
                        asm!(
                            concat!("csrr {}, mhpmcounter", $number),
                            out(reg) value,
                            options(nomem, nostack)
                        );
                    }
                    Some(value)
                })+
                _ => None,
            }
        }

        /// Sets the counters in `mask` to zero.
        fn clear(mask: u32) {
            $(if mask & (1 << $number) != 0 {
                // Safety: the kernel does not use these counters.
                unsafe { asm!(concat!("csrw mhpmcounter", $number, ", zero"), options(nomem, nostack)) }
            })+
        }
    };
}

event_counters!(3, 4, 5, 6, 7, 8, 9, 10, 11, 12);

/// Stops exactly these counters: the bits of mcycle and minstret stay zero.
fn inhibit(events: u32) {
    // Safety: mcountinhibit stops counters and does nothing else.
    unsafe { asm!("csrw mcountinhibit, {}", in(reg) events, options(nomem, nostack)) }
}
