// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Commands, subscriptions, upcalls, yields.

use super::*;
use crate::drivers::{alarm, console, debug, ipc, perf};
use crate::upcall::REPEATS;

const FUNCTION: u32 = FLASH + 0x200;

#[test]
fn an_app_starts_knowing_its_memory() {
    let mut kernel = boot(apps(&["one"]));
    let (pc, _, arguments) = kernel.registers();
    let header_size = pc - FLASH;
    assert!(header_size >= 16);
    assert_eq!(arguments, [FLASH + header_size, RAM, RAM_EACH, RAM]);
}

#[test]
fn every_driver_reports_that_it_exists_and_no_other_does() {
    let mut kernel = boot(apps(&["one"]));
    let drivers = [
        alarm::NUMBER,
        console::NUMBER,
        debug::NUMBER,
        ipc::NUMBER,
        perf::NUMBER,
    ];
    for driver in drivers {
        assert_eq!(kernel.command_to(driver, 0, 0, 0), Return::Success);
        assert_eq!(
            kernel.command_to(driver, 99, 0, 0),
            failure(ErrorCode::NoSupport)
        );
    }
    let absent = kernel.command_to(0x9_0004, 0, 0, 0);
    assert_eq!(absent, failure(ErrorCode::NoDevice));
}

#[test]
fn an_unknown_class_fails() {
    let mut kernel = boot(apps(&["one"]));
    assert_eq!(kernel.call(8, [0; 4]), failure(ErrorCode::NoSupport));
    let readable = kernel.call(class::USERSPACE_READABLE_ALLOW, [1, 1, 5, 6]);
    let refused = Return::FailurePair(ErrorCode::NoSupport, 5, 6);
    assert_eq!(readable, refused);
}

#[test]
fn subscribe_swaps() {
    let mut kernel = boot(apps(&["one"]));
    let first = kernel.subscribe_to(perf::NUMBER, 0, FUNCTION, 7);
    assert_eq!(first, Return::Pair(0, 0));
    let second = kernel.subscribe_to(perf::NUMBER, 0, 0, 0);
    assert_eq!(second, Return::Pair(FUNCTION, 7));
}

#[test]
fn subscribe_returns_a_refused_pair() {
    let mut kernel = boot(apps(&["one"]));
    let cases = [
        (perf::NUMBER, 0, RAM, ErrorCode::Invalid),
        (perf::NUMBER, 0, FLASH + FLASH_EACH, ErrorCode::Invalid),
        (perf::NUMBER, 1, FUNCTION, ErrorCode::NoSupport),
        (77, 0, FUNCTION, ErrorCode::NoDevice),
        (77, 0, RAM, ErrorCode::Invalid),
        (perf::NUMBER, 1, RAM, ErrorCode::Invalid),
    ];
    for (driver, number, function, error) in cases {
        let result = kernel.subscribe_to(driver, number, function, 9);
        assert_eq!(result, Return::FailurePair(error, function, 9));
    }
}

#[test]
fn an_upcall_runs_when_the_process_yields() {
    let mut kernel = boot(apps(&["one"]));
    kernel.subscribe_to(perf::NUMBER, 0, FUNCTION, 7);
    let (before, ..) = kernel.registers();
    assert_eq!(kernel.command_to(perf::NUMBER, 8, 55, 0), Return::Success);
    kernel.wait();
    let (pc, ra, arguments) = kernel.registers();
    assert_eq!(
        (pc, ra),
        (FUNCTION, before),
        "called, to return to where it was"
    );
    assert_eq!(arguments[2..], [55, 7]);
    assert!(arguments[0] < arguments[1], "the counters, in order");
}

#[test]
fn a_new_subscription_gets_no_earlier_upcall() {
    let mut kernel = boot(apps(&["one"]));
    kernel.subscribe_to(perf::NUMBER, 0, FUNCTION, 7);
    kernel.command_to(perf::NUMBER, 8, 0, 0);
    kernel.subscribe_to(perf::NUMBER, 0, FUNCTION + 4, 8);
    let flag = RAM;
    kernel.memory_operation(0, RAM + 64);
    host::with(|machine| machine.ram[0] = 9);
    kernel.ecall(class::YIELD, [0, flag, 0, 0]);
    assert_eq!(host::with(|machine| machine.ram[0]), 0, "nothing ran");
}

#[test]
fn yield_no_wait_reports_whether_an_upcall_ran() {
    let mut kernel = boot(apps(&["one"]));
    kernel.memory_operation(0, RAM + 64);
    kernel.subscribe_to(perf::NUMBER, 0, FUNCTION, 7);
    kernel.command_to(perf::NUMBER, 8, 0, 0);
    kernel.ecall(class::YIELD, [0, RAM + 63, 0, 0]);
    assert_eq!(host::with(|machine| machine.ram[63]), 1);
    // A flag outside the process's own memory is not written.
    kernel.ecall(class::YIELD, [0, RAM + 64, 0, 0]);
    kernel.ecall(class::YIELD, [0, u32::MAX, 0, 0]);
    host::with(|machine| assert!(machine.ram[64..].iter().all(|byte| *byte == 0)));
}

#[test]
fn yield_wait_for_takes_its_upcall_and_calls_no_function() {
    let mut kernel = boot(apps(&["one"]));
    kernel.subscribe_to(alarm::NUMBER, 0, FUNCTION, 0);
    let (before, ..) = kernel.registers();
    kernel.command_to(perf::NUMBER, 8, 1, 0);
    // The alarm is queued second, but the process waits for it; the core sleeps until it is due.
    kernel.command_to(alarm::NUMBER, 5, 500, 0);
    kernel.ecall(class::YIELD, [2, alarm::NUMBER, 0, 0]);
    let (pc, _, arguments) = kernel.registers();
    assert_eq!(pc, before);
    assert_eq!(arguments[..2], [500, 500]);
    kernel.ecall(class::YIELD, [2, perf::NUMBER, 0, 0]);
    assert_eq!(kernel.registers().2[2], 1, "the other one has been kept");
}

#[test]
fn an_upcall_that_does_not_fit_is_refused() {
    let mut kernel = boot(apps(&["one"]));
    for _ in 0..=REPEATS {
        assert_eq!(kernel.command_to(perf::NUMBER, 8, 0, 0), Return::Success);
    }
    let full = kernel.command_to(perf::NUMBER, 8, 0, 0);
    assert_eq!(full, failure(ErrorCode::NoMemory));
    // Of another kind, the first one fits.
    let written = kernel.command_to(console::NUMBER, 1, 0, 0);
    assert_eq!(written, Return::Success);
    let written = kernel.command_to(console::NUMBER, 1, 0, 0);
    assert_eq!(written, failure(ErrorCode::NoMemory));
}

#[test]
fn an_alarm_counts_from_its_reference() {
    let mut kernel = boot(apps(&["one"]));
    kernel.subscribe_to(alarm::NUMBER, 0, FUNCTION, 0);
    // The clock's low half has just carried; the reference is before that.
    host::with(|machine| machine.now = 0x1_0000_0010);
    let set = kernel.command_to(alarm::NUMBER, 6, 0xFFFF_FFF0, 0x40);
    assert_eq!(set, Return::U32(0x30));
    assert_eq!(host::with(|machine| machine.timer), Some(0x1_0000_0030));
    kernel.wait();
    assert_eq!(kernel.registers().2[..2], [0x30, 0x30]);
    // An alarm in the past is due at once.
    kernel.command_to(alarm::NUMBER, 6, 0x20, 0x8);
    kernel.wait();
    assert_eq!(kernel.registers().2[..2], [0x30, 0x28]);
}

#[test]
fn an_alarm_can_be_stopped_once() {
    let mut kernel = boot(apps(&["one"]));
    kernel.command_to(alarm::NUMBER, 5, 500, 0);
    assert_eq!(kernel.command_to(alarm::NUMBER, 3, 0, 0), Return::Success);
    assert_eq!(host::with(|machine| machine.timer), None);
    let again = kernel.command_to(alarm::NUMBER, 3, 0, 0);
    assert_eq!(again, failure(ErrorCode::Already));
}

#[test]
fn low_level_debug_prints() {
    let mut kernel = boot(apps(&["one"]));
    kernel.command_to(debug::NUMBER, 3, 0x12, 0xAB);
    assert!(printed().ends_with("tockmark-kernel: app one prints 0x12 0xab\n"));
}
