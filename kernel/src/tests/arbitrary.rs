// SPDX-License-Identifier: Apache-2.0 OR MIT

//! For any calls of applications, in any order and with any interrupts between them, the kernel follows its
//! rules: which process runs, and which memory that process can access.

use super::*;
use crate::drivers::{alarm, console, debug, ipc, perf, registry, relay};
use crate::process::{Process, State};
use crate::region::Region;
use crate::slots::MAX_PROCESSES;
use crate::tbf::tests::Numbers;
use proptest::prelude::*;

/// The last process makes no call that waits or ends, so there is always a process to run.
const LAST: usize = MAX_PROCESSES - 1;

/// An argument: a small number, an address of the caller's or of another process, or any word.
fn word(numbers: &mut Numbers, caller: u32) -> u32 {
    match numbers.below(8) {
        0..3 => numbers.below(8),
        3 => ram_of(caller) + 4 * numbers.below(64),
        4 => flash_of(caller) + numbers.below(FLASH_EACH),
        5 => RAM + numbers.below(MAX_PROCESSES as u32 * RAM_EACH),
        6 => FLASH + numbers.below(MAX_PROCESSES as u32 * FLASH_EACH),
        _ => numbers.below(u32::MAX),
    }
}

/// A system call of the current process, mostly a meaningful one.
fn call(kernel: &mut Kernel, numbers: &mut Numbers) {
    let caller = kernel.current as u32;
    let may_wait = kernel.current != LAST;
    let driver = match numbers.below(10) {
        0 => 77,
        1 => alarm::NUMBER,
        2 => console::NUMBER,
        3 => debug::NUMBER,
        4 => perf::NUMBER,
        5 => registry::BY_STRING + numbers.below(2),
        6 | 7 => relay::NUMBER,
        _ => ipc::NUMBER,
    };
    let (number, first) = (numbers.below(9), word(numbers, caller));
    let (class, arguments) = match numbers.below(64) {
        0 if may_wait => (class::EXIT, [numbers.below(3), first, 0, 0]),
        1 => (numbers.below(u32::MAX), [driver, number, first, first]),
        2..6 => (class::MEMOP, [numbers.below(13), first, 0, 0]),
        6..20 if may_wait => (class::YIELD, [numbers.below(4), driver, number % 4, 0]),
        6..20 => (class::YIELD, [0, first, 0, 0]),
        20..30 => (class::SUBSCRIBE, [driver, number % 4, first, 0]),
        30..40 => {
            let class = class::READ_WRITE_ALLOW + numbers.below(2);
            (class, [driver, number % 4, first, 2 * numbers.below(40)])
        }
        _ if driver == relay::NUMBER => {
            let number = [0x10, 0x11, 0x20, 0x21, 0x22, 0x23, 0x24, 0][number as usize % 8];
            let id = MAX_PROCESSES as u32 * (1 + numbers.below(2)) + numbers.below(4);
            (class::COMMAND, [driver, number, id, 0])
        }
        _ => (class::COMMAND, [driver, number, numbers.below(4), first]),
    };
    kernel.ecall(class, arguments);
}

fn step(kernel: &mut Kernel, numbers: &mut Numbers) {
    match numbers.below(12) {
        0 => host::with(|machine| machine.now += u64::from(numbers.below(20_000))),
        1 if host::with(|machine| !machine.fifo.is_empty()) => Hardware::wait_for_interrupt(),
        2 if kernel.current != LAST && numbers.below(16) == 0 => kernel.fault(5, 0),
        3 => {
            let end = ram_of(kernel.current as u32) + 4 * numbers.below(RAM_EACH / 4 + 1);
            kernel.memory_operation(0, end);
        }
        _ => call(kernel, numbers),
    }
    let pending = || {
        let pending = Hardware::pending_interrupts();
        pending.timer || pending.external
    };
    for _ in 0..8 {
        if pending() {
            kernel.interrupt();
        }
    }
    assert!(!pending(), "an interrupt is never served");
}

fn check(kernel: &Kernel) {
    let current = &kernel.processes[kernel.current];
    assert_eq!(current.state, State::Ready);

    let others = || {
        let all = kernel.processes.iter().enumerate();
        all.filter(|(index, _)| *index != kernel.current)
    };
    let waiting = |(_, other): (usize, &Process)| other.is_runnable();
    if host::with(|machine| machine.slice_us) == 0 {
        let mut earlier = others().take(kernel.current);
        assert!(!earlier.any(waiting), "fixed priority");
    } else if others().any(waiting) {
        assert!(host::with(|machine| machine.timer).is_some(), "a slice");
    }

    let (protected, windows) = host::with(|machine| (machine.protected, machine.windows));
    let end = current.app_break().next_multiple_of(4);
    assert!(end <= current.app.ram.end());
    let own = Region::new(current.app.ram.start(), end);
    assert_eq!(protected, (current.app.flash, own));
    for window in windows.iter().filter(|window| window.length() > 0) {
        let slot = 1 + kernel.current;
        let shares = |(_, other): (usize, &Process)| {
            other.state != State::Stopped
                && other.app.ram.covers(*window)
                && other.read_write[slot].region() == *window
        };
        assert!(others().any(shares), "{window} is shared by nobody");
    }
}

proptest! {
    #[test]
    fn the_kernel_keeps_its_rules(seed in 1..u64::MAX, slice_us in prop_oneof![Just(0), 100..9_000_u32]) {
        host::reset();
        host::with(|machine| {
            machine.slice_us = slice_us;
            machine.fault_restarts = 2;
        });
        let mut kernel = boot(apps(&["a", "b", "c", "d", "e", "f", "g", "h"][..MAX_PROCESSES]));
        let mut numbers = Numbers(seed);
        check(&kernel);
        for _ in 0..300 {
            step(&mut kernel, &mut numbers);
            check(&kernel);
        }
    }
}

#[test]
fn the_end_of_a_slice_is_another_processs_turn() {
    let mut kernel = boot(apps(
        &["a", "b", "c", "d", "e", "f", "g", "h"][..MAX_PROCESSES],
    ));
    let mut numbers = Numbers(9);
    for _ in 0..5_000 {
        step(&mut kernel, &mut numbers);
        let before = kernel.current;
        host::with(|machine| machine.now += 10_000);
        let mut all = kernel.processes.iter().enumerate();
        let another = all.any(|(index, process)| index != before && process.is_runnable());
        if Hardware::pending_interrupts().timer {
            kernel.interrupt();
        }
        assert_eq!(kernel.current != before, another);
    }
}
