// SPDX-License-Identifier: Apache-2.0 OR MIT

//! What each of Perf's commands does: pure logic over the small [`Counters`] trait, which knows no
//! kernel. This file is the same in every kernel; an adapter beside it calls [`Perf::command`] and
//! puts the [`Reply`] into the kernel's own words.
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
//! | 6 | N | u64 | event counter N; NOSUPPORT if the core has none of that number |
//! | 7 | mask | success | starts event counter N from zero for each bit N, and stops the others |
//! | 8 | any | success | schedules upcall 0 at once |
//!
//! # Event counters
//!
//! Command 7 with a bit for which the core has no event counter answers NOSUPPORT and changes nothing.
//! With no bit it stops all, and what they have counted can be read at leisure. A core has one set,
//! which all applications share. The cycle and the instruction counter always run.
//!
//! On Ibex each counts one kind of event, which cannot be changed. Earl Grey's Ibex has these ten, of
//! 32 bits each:
//!
//! | counter | Ibex's name | what it counts |
//! |---|---|---|
//! | 3 | NumCyclesLSU | cycles in which the core waits for data memory |
//! | 4 | NumCyclesIF | cycles in which it waits for the next instruction |
//! | 5 | NumLoads | loads; one that crosses a word counts once |
//! | 6 | NumStores | stores, likewise |
//! | 7 | NumJumps | unconditional jumps |
//! | 8 | NumBranches | conditional branches |
//! | 9 | NumBranchesTaken | those of them that are taken |
//! | 10 | NumInstrRetC | retired compressed instructions |
//! | 11 | NumCyclesMulWait | cycles in which it waits for the multiplier |
//! | 12 | NumCyclesDivWait | cycles in which it waits for the divider |
//!
//! # Upcall 0
//!
//! Scheduled by command 8. Its arguments are the low halves of cycles and of retired instructions as
//! they stood when the upcall was scheduled, then the argument that the command was given. So an
//! application that measures delivery has the moment of scheduling without a further system call.

/// The driver number under the version 2 interface. (0x90004, which the 2021 study used, belongs to
/// another driver there.)
pub const DRIVER_NUMBER: u32 = 0x9_0010;

/// The counters of one core. Each method but the last two is one read of one counter half.
pub trait Counters {
    /// Low half of the cycle counter.
    fn cycles(&self) -> u32;
    /// High half of the cycle counter.
    fn cycles_high(&self) -> u32;
    /// Low half of the retired-instruction counter.
    fn instructions(&self) -> u32;
    /// High half of the retired-instruction counter.
    fn instructions_high(&self) -> u32;

    /// Event counter `number`; None if the core has no such counter.
    fn event(&self, _number: u32) -> Option<u64> {
        None
    }

    /// Starts each event counter whose bit is set in `mask` from zero and stops the others. If the
    /// core lacks one of them, nothing changes, and the answer is None.
    fn start_events(&self, _mask: u32) -> Option<()> {
        None
    }
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
    pub(crate) counters: C,
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

/// Tells the compiler that the way past this call is seldom taken.
#[cold]
fn seldom() {}

/// Reads both halves of a running counter. The low half may carry into the high half between the
/// reads; then the high half has changed, and the low half is read again, too soon for another carry.
pub fn read_wide(high: impl Fn() -> u32, low: impl Fn() -> u32) -> u64 {
    let (before, early) = (high(), low());
    let upper = high();
    let lower = if upper == before { early } else { low() };
    u64::from(upper) << 32 | u64::from(lower)
}
