// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Perf: a stopwatch for applications.
//!
//! On Earl Grey user mode cannot read `mcycle` and `minstret` (`mcounteren` is hard-wired to zero),
//! so an application asks the kernel. This crate is what every kernel's Perf driver has in common:
//! which command does what. It is pure logic over the small [`Counters`] trait and knows no kernel;
//! a kernel adds an adapter that calls [`Perf::command`] and puts the [`Reply`] into its own words.
//!
//! # Usage
//!
//! ```
//! # use tockmark_perf::{Counters, Perf, Reply};
//! # struct Cpu;
//! # impl Counters for Cpu {
//! #     fn cycles(&self) -> u32 { 7 }
//! #     fn cycles_high(&self) -> u32 { 0 }
//! #     fn instructions(&self) -> u32 { 5 }
//! #     fn instructions_high(&self) -> u32 { 0 }
//! # }
//! let perf = Perf::new(Cpu); // `Cpu` reads the counters of this core
//! assert_eq!(perf.command(3, 0), Reply::Pair(7, 5));
//! ```
//!
//! # Commands
//!
//! | number | argument | reply | meaning |
//! |---|---|---|---|
//! | 0 | - | success | the driver is there |
//! | 1 | - | u32 | cycles, low half |
//! | 2 | - | u32 | retired instructions, low half |
//! | 3 | - | u32, u32 | cycles and retired instructions, low halves, read back to back |
//! | 4 | - | u64 | all of cycles |
//! | 5 | - | u64 | all of retired instructions |
//! | 6, 7 | | NOSUPPORT | reserved for hardware event counters |
//! | 8 | any | success | schedules upcall 0 at once |
//!
//! # Upcall 0
//!
//! Scheduled by command 8. Its arguments are the low halves of cycles and of retired instructions as
//! they stood when the upcall was scheduled, then the argument that the command was given. So an
//! application that measures delivery has the moment of scheduling without a further system call.

#![no_std]
#![forbid(unsafe_code)]

/// The driver number under the version 2 interface. (0x90004, which the 2021 study used, belongs to
/// another driver there.)
pub const DRIVER_NUMBER: u32 = 0x9_0010;

/// The counters of one core. Each method is one read of one counter half.
pub trait Counters {
    /// Low half of the cycle counter.
    fn cycles(&self) -> u32;
    /// High half of the cycle counter.
    fn cycles_high(&self) -> u32;
    /// Low half of the retired-instruction counter.
    fn instructions(&self) -> u32;
    /// High half of the retired-instruction counter.
    fn instructions_high(&self) -> u32;
}

/// What a command answers, in no kernel's terms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reply {
    Success,
    U32(u32),
    Pair(u32, u32),
    U64(u64),
    /// Success, and the adapter schedules upcall 0 with these arguments.
    Upcall(u32, u32, u32),
    NoSupport,
}

/// The driver: the command table over a core's counters.
pub struct Perf<C> {
    counters: C,
}

impl<C> Perf<C> {
    pub const fn new(counters: C) -> Self {
        Self { counters }
    }
}

impl<C: Counters> Perf<C> {
    /// Carries out one command. `argument` is the command's first argument.
    #[inline(always)]
    pub fn command(&self, number: u32, argument: u32) -> Reply {
        let core = &self.counters;
        // The stopwatch comes before the table: what it costs is in every measurement.
        if number == 3 {
            return Reply::Pair(core.cycles(), core.instructions());
        }
        seldom();
        match number {
            0 => Reply::Success,
            1 => Reply::U32(core.cycles()),
            2 => Reply::U32(core.instructions()),
            4 => Reply::U64(read_wide(|| core.cycles_high(), || core.cycles())),
            5 => Reply::U64(read_wide(
                || core.instructions_high(),
                || core.instructions(),
            )),
            8 => Reply::Upcall(core.cycles(), core.instructions(), argument),
            _ => Reply::NoSupport,
        }
    }
}

/// Tells the compiler that the way past this call is seldom taken.
#[cold]
fn seldom() {}

/// Reads both halves of a running counter. The low half may carry into the high half between the
/// reads; then the high half has changed, and the reading is taken again.
fn read_wide(high: impl Fn() -> u32, low: impl Fn() -> u32) -> u64 {
    let mut upper = high();
    loop {
        let lower = low();
        let again = high();
        if again == upper {
            return u64::from(upper) << 32 | u64::from(lower);
        }
        upper = again;
    }
}

#[cfg(test)]
mod tests;
