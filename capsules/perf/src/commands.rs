// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Perf's commands. This file is the same in every kernel: it reads the counters through the trait
//! [`Counters`] and needs no kernel. Each kernel has an adapter, which calls [`Perf::command`] and
//! converts the [`Reply`] to the kernel's own types.
//!
//! # Commands
//!
//! | number | argument | reply | meaning |
//! |---|---|---|---|
//! | 0 | - | success | the driver exists |
//! | 1 | - | u32 | cycles, low half |
//! | 2 | - | u32 | retired instructions, low half |
//! | 3 | - | u32, u32 | cycles and retired instructions, low halves, read back to back |
//! | 4 | - | u64 | cycles, both halves |
//! | 5 | - | u64 | retired instructions, both halves |
//! | 6 | N | u64 | event counter N; NOSUPPORT if the core does not have it |
//! | 7 | mask | success | starts event counter N from zero for each bit N, and stops the others |
//! | 8 | any | success | schedules upcall 0 immediately |
//!
//! # Event counters
//!
//! If the core lacks an event counter of the mask, command 7 returns NOSUPPORT and changes nothing. A mask
//! of 0 stops all event counters; they keep their values. All applications share the core's one set: an
//! application may restart counters that another one uses. Cycles and instructions are always counted.
//!
//! On Ibex each event counter counts one event, which cannot be changed. Earl Grey's Ibex has these ten,
//! with 32 bits each:
//!
//! | counter | Ibex's name | event |
//! |---|---|---|
//! | 3 | NumCyclesLSU | cycles in which the core waits for data memory |
//! | 4 | NumCyclesIF | cycles in which the core waits for the next instruction |
//! | 5 | NumLoads | loads; a load that crosses a word boundary counts once |
//! | 6 | NumStores | stores, counted in the same way |
//! | 7 | NumJumps | unconditional jumps |
//! | 8 | NumBranches | conditional branches |
//! | 9 | NumBranchesTaken | conditional branches that are taken |
//! | 10 | NumInstrRetC | retired compressed instructions |
//! | 11 | NumCyclesMulWait | cycles in which the core waits for the multiplier |
//! | 12 | NumCyclesDivWait | cycles in which the core waits for the divider |
//!
//! # Upcall 0
//!
//! Command 8 schedules it. Its arguments are the low halves of cycles and of retired instructions at the
//! time of scheduling, then the command's argument. So an application that measures delivery knows the time
//! of scheduling without another system call.

/// The driver number in version 2 of the interface. Version 1 uses 0x90004, as in the study of 2021; in
/// version 2 that number belongs to another driver.
pub const DRIVER_NUMBER: u32 = 0x9_0010;

/// The counters of one core. Each method except the last two reads one half of one counter.
pub trait Counters {
    /// Low half of the cycle counter.
    fn cycles(&self) -> u32;
    /// High half of the cycle counter.
    fn cycles_high(&self) -> u32;
    /// Low half of the retired-instruction counter.
    fn instructions(&self) -> u32;
    /// High half of the retired-instruction counter.
    fn instructions_high(&self) -> u32;

    /// Reads event counter `number`; None if the core does not have it.
    fn event(&self, _number: u32) -> Option<u64> {
        None
    }

    /// Starts each event counter whose bit is set in `mask` from zero and stops the others. If the core
    /// lacks one of them, changes nothing and returns None.
    fn start_events(&self, _mask: u32) -> Option<()> {
        None
    }
}

/// The result of a command, independent of any kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reply {
    Success,
    U32(u32),
    Pair(u32, u32),
    U64(u64),
    /// Success; the adapter schedules upcall 0 with these arguments.
    Upcall(u32, u32, u32),
    NoSupport,
}

/// The driver: the command table over a core's counters.
pub struct Perf<C> {
    pub(crate) counters: C,
}

impl<C> Perf<C> {
    pub const fn new(counters: C) -> Self {
        Self { counters }
    }
}

impl<C: Counters> Perf<C> {
    /// Executes command `number`. `argument` is its first argument.
    #[inline(always)]
    pub fn command(&self, number: u32, argument: u32) -> Reply {
        let core = &self.counters;
        // Command 3 is handled first, because its cost is part of every measurement.
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
            6 => core.event(argument).map_or(Reply::NoSupport, Reply::U64),
            7 => {
                let started = core.start_events(argument);
                started.map_or(Reply::NoSupport, |()| Reply::Success)
            }
            8 => Reply::Upcall(core.cycles(), core.instructions(), argument),
            _ => Reply::NoSupport,
        }
    }
}

/// Tells the compiler that the path with this call is rarely taken.
#[cold]
fn seldom() {}

/// Reads both halves of a running counter. If the high half changed between its two reads, the low half
/// may be from before the carry, so it is read again: too soon for another carry.
pub fn read_wide(high: impl Fn() -> u32, low: impl Fn() -> u32) -> u64 {
    let (before, early) = (high(), low());
    let upper = high();
    let lower = if upper == before { early } else { low() };
    u64::from(upper) << 32 | u64::from(lower)
}
