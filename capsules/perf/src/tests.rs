// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The command table over a fake core whose counters advance with every read.

use crate::{Counters, Perf, Reply};
use core::cell::Cell;

/// Every read of either counter takes `step` cycles and retires one instruction. There are two event
/// counters, 3 and 4.
struct FakeCore {
    cycles: Cell<u64>,
    instructions: Cell<u64>,
    step: u64,
    started: Cell<u32>,
}

impl FakeCore {
    fn at(cycles: u64, instructions: u64, step: u64) -> Self {
        Self {
            cycles: Cell::new(cycles),
            instructions: Cell::new(instructions),
            step,
            started: Cell::new(0),
        }
    }

    /// Returns both counters, then advances them.
    fn tick(&self) -> (u64, u64) {
        let now = (self.cycles.get(), self.instructions.get());
        self.cycles.set(now.0 + self.step);
        self.instructions.set(now.1 + 1);
        now
    }
}

impl Counters for FakeCore {
    fn cycles(&self) -> u32 {
        self.tick().0 as u32
    }
    fn cycles_high(&self) -> u32 {
        (self.tick().0 >> 32) as u32
    }
    fn instructions(&self) -> u32 {
        self.tick().1 as u32
    }
    fn instructions_high(&self) -> u32 {
        (self.tick().1 >> 32) as u32
    }
    fn event(&self, number: u32) -> Option<u64> {
        matches!(number, 3 | 4).then_some(1 << 32 | u64::from(number))
    }
    fn start_events(&self, mask: u32) -> Option<()> {
        (mask & !0b1_1000 == 0).then(|| self.started.set(mask))
    }
}

fn perf(cycles: u64, instructions: u64, step: u64) -> Perf<FakeCore> {
    Perf::new(FakeCore::at(cycles, instructions, step))
}

#[test]
fn the_driver_exists() {
    assert_eq!(perf(1, 1, 1).command(0, 0), Reply::Success);
}

#[test]
fn low_halves_are_read_alone() {
    assert_eq!(
        perf(0x1_2345_6789, 9, 1).command(1, 0),
        Reply::U32(0x2345_6789)
    );
    assert_eq!(perf(9, 0x3_0000_0002, 1).command(2, 0), Reply::U32(2));
}

#[test]
fn the_pair_is_read_back_to_back() {
    // One read of the fake takes 10 cycles and retires 1 instruction: exactly one read is in between.
    let perf = perf(100, 40, 10);
    assert_eq!(perf.command(3, 0), Reply::Pair(100, 41));
    assert_eq!(perf.counters.cycles.get(), 120, "two reads, no more");
}

#[test]
fn wide_counters_need_three_reads() {
    let still = perf(0x7_0000_0000, 0x5_0000_0000, 1);
    assert_eq!(still.command(4, 0), Reply::U64(0x7_0000_0001));
    assert_eq!(
        still.counters.instructions.get(),
        0x5_0000_0003,
        "high, low, high"
    );
    assert_eq!(still.command(5, 0), Reply::U64(0x5_0000_0004));
}

#[test]
fn a_carry_between_the_halves_is_seen() {
    // For any moment of the carry, the result is between the counter's values before and after.
    for before in 0xFFFF_FFF0..=0xFFFF_FFFF_u64 {
        for (number, step) in [(4, 1), (4, 5), (5, 1)] {
            let perf = perf(before, before, step);
            let Reply::U64(value) = perf.command(number, 0) else {
                panic!("not a wide reply");
            };
            let after = match number {
                4 => perf.counters.cycles.get(),
                _ => perf.counters.instructions.get(),
            };
            assert!(
                before <= value && value < after,
                "{before:#x} {value:#x} {after:#x}"
            );
        }
    }
}

#[test]
fn the_upcall_has_the_time_of_scheduling_and_the_argument() {
    assert_eq!(perf(100, 40, 10).command(8, 77), Reply::Upcall(100, 41, 77));
}

#[test]
fn event_counters_come_from_the_core() {
    let perf = perf(1, 1, 1);
    assert_eq!(perf.command(6, 4), Reply::U64(1 << 32 | 4));
    assert_eq!(perf.command(7, 0b1_0000), Reply::Success);
    for absent in [0, 2, 5, 31, 32, u32::MAX] {
        assert_eq!(perf.command(6, absent), Reply::NoSupport);
    }
    for absent in [0b1_1001, 1 << 5, u32::MAX] {
        assert_eq!(perf.command(7, absent), Reply::NoSupport);
    }
    assert_eq!(perf.counters.started.get(), 0b1_0000, "changed once");
}

#[test]
fn a_core_without_event_counters_returns_nosupport() {
    struct Plain;
    impl Counters for Plain {
        fn cycles(&self) -> u32 {
            0
        }
        fn cycles_high(&self) -> u32 {
            0
        }
        fn instructions(&self) -> u32 {
            0
        }
        fn instructions_high(&self) -> u32 {
            0
        }
    }
    assert_eq!(Perf::new(Plain).command(6, 3), Reply::NoSupport);
    assert_eq!(Perf::new(Plain).command(7, 0), Reply::NoSupport);
}

#[test]
fn other_commands_are_not_supported() {
    for number in [9, 10, u32::MAX] {
        assert_eq!(perf(1, 1, 1).command(number, 0), Reply::NoSupport);
    }
}
