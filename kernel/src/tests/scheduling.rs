// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The order of processes, time slices, and the end of processes.

use super::*;
use crate::drivers::{alarm, ipc, perf};
use crate::process::State;
use crate::region::Region;

/// The current process runs until the timer interrupts it.
fn run_until_interrupt(kernel: &mut Kernel) {
    host::with(|machine| machine.now = machine.timer.expect("no interrupt will come"));
    kernel.interrupt();
}

#[test]
fn an_app_alone_is_never_interrupted() {
    let mut kernel = boot(apps(&["one"]));
    assert_eq!(host::with(|machine| machine.timer), None);
    kernel.command_to(perf::NUMBER, 3, 0, 0);
    assert_eq!(host::with(|machine| machine.timer), None);
}

#[test]
fn apps_that_only_compute_take_turns() {
    let mut kernel = boot(apps(&["a", "b", "c"]));
    let mut turns = Vec::new();
    for _ in 0..6 {
        turns.push(kernel.current);
        let before = host::with(|machine| machine.now);
        run_until_interrupt(&mut kernel);
        assert_eq!(host::with(|machine| machine.now) - before, 10_000, "10 ms");
    }
    assert_eq!(turns, [0, 1, 2, 0, 1, 2]);
}

#[test]
fn a_word_of_the_image_sets_the_slice() {
    for (word, length) in [(1, 100), (100, 100), (2500, 2500)] {
        host::with(|machine| machine.slice_us = word);
        let mut kernel = boot(apps(&["a", "b"]));
        let before = host::with(|machine| machine.now);
        run_until_interrupt(&mut kernel);
        assert_eq!(host::with(|machine| machine.now) - before, length);
        assert_eq!(kernel.current, 1);
    }
}

/// Fixed priority: the second process runs because the first waits for its alarm.
fn second_of_two_by_priority() -> Kernel {
    host::with(|machine| machine.slice_us = 0);
    let mut kernel = boot(apps(&["a", "b"]));
    assert_eq!(host::with(|machine| machine.timer), None, "no slices");
    kernel.subscribe_to(alarm::NUMBER, 0, FLASH + 0x200, 0);
    kernel.subscribe_to(ipc::NUMBER, 0, FLASH + 0x300, 0);
    kernel.command_to(alarm::NUMBER, 5, 700, 0);
    kernel.wait();
    assert_eq!(kernel.current, 1);
    kernel
}

#[test]
fn by_priority_an_interrupt_wakes_an_earlier_process_at_once() {
    let mut kernel = second_of_two_by_priority();
    let (before, ..) = kernel.registers();
    run_until_interrupt(&mut kernel);
    assert_eq!(kernel.current, 0);
    kernel.wait();
    assert_eq!(kernel.current, 1);
    assert_eq!(kernel.registers().0, before);
}

#[test]
fn by_priority_a_notified_earlier_process_runs_before_the_call_returns() {
    let mut kernel = second_of_two_by_priority();
    kernel.ecall(class::COMMAND, [ipc::NUMBER, 2, 0, 0]);
    assert_eq!(kernel.current, 0);
    // A process with a higher index has to wait.
    kernel.ecall(class::COMMAND, [ipc::NUMBER, 3, 1, 0]);
    assert_eq!(kernel.current, 0);
    kernel.wait();
    assert_eq!(kernel.current, 1);
    assert_eq!(kernel.registers().2[0], 128, "the notification succeeded");
}

#[test]
fn only_the_running_apps_memory_is_open() {
    let mut kernel = boot(apps(&["a", "b"]));
    for index in [0, 1, 0] {
        let flash = Region::new(flash_of(index), flash_of(index) + FLASH_EACH);
        assert_eq!(host::with(|machine| machine.protected.0), flash);
        run_until_interrupt(&mut kernel);
    }
}

#[test]
fn a_slice_starts_when_another_app_wakes() {
    let mut kernel = boot(apps(&["a", "b"]));
    // The first sleeps on an alarm; the second computes, alone and so without a slice.
    kernel.subscribe_to(alarm::NUMBER, 0, FLASH + 0x200, 0);
    kernel.command_to(alarm::NUMBER, 5, 700, 0);
    kernel.wait();
    assert_eq!(kernel.current, 1);
    assert_eq!(
        host::with(|machine| machine.timer),
        Some(700),
        "the alarm, no slice"
    );
    run_until_interrupt(&mut kernel);
    assert_eq!(kernel.current, 1, "it keeps the core for its slice");
    run_until_interrupt(&mut kernel);
    assert_eq!(host::with(|machine| machine.now), 10_700);
    assert_eq!(kernel.current, 0, "then the woken one runs");
    assert_eq!(kernel.registers().0, FLASH + 0x200);
}

#[test]
fn another_process_runs_when_one_yields() {
    let mut kernel = boot(apps(&["a", "b"]));
    kernel.wait();
    assert_eq!(kernel.current, 1);
    assert_eq!(
        host::with(|machine| machine.timer),
        None,
        "nobody waits for the core"
    );
    assert_eq!(kernel.processes[0].state, State::Yielded);
}

#[test]
#[should_panic(expected = "nothing can wake the core")]
fn without_a_wake_up_the_core_sleeps_for_ever() {
    let mut kernel = boot(apps(&["one"]));
    kernel.wait();
}

#[test]
fn an_upcall_without_a_subscription_wakes_no_process() {
    let mut kernel = boot(apps(&["a", "b"]));
    kernel.command_to(perf::NUMBER, 8, 0, 0);
    kernel.wait();
    assert_eq!(kernel.current, 1);
}

#[test]
fn exit_ends_a_process() {
    for slice_us in [10_000, 0] {
        host::with(|machine| machine.slice_us = slice_us);
        let mut kernel = boot(apps(&["a", "b"]));
        kernel.command_to(alarm::NUMBER, 5, 700, 0);
        kernel.ecall(class::EXIT, [0, 5, 0, 0]);
        send_everything(&mut kernel);
        assert!(printed().contains("app a ended with code 0x5\n"));
        assert_eq!(kernel.current, 1);
        assert_eq!(kernel.processes[0].state, State::Stopped);
        assert_eq!(
            host::with(|machine| machine.timer),
            None,
            "its alarm is gone"
        );
        let odd = kernel.call(class::EXIT, [2, 0, 0, 0]);
        assert_eq!(odd, failure(ErrorCode::NoSupport));
    }
}

#[test]
fn restart_clears_the_process() {
    let mut kernel = boot(apps(&["one"]));
    let fresh = kernel.registers();
    kernel.memory_operation(0, RAM + 64);
    kernel.subscribe_to(perf::NUMBER, 0, FLASH + 0x200, 7);
    kernel.allow(class::READ_ONLY_ALLOW, 1, RAM, 8);
    kernel.command_to(perf::NUMBER, 8, 0, 0);
    kernel.ecall(class::EXIT, [1, 0, 0, 0]);
    assert_eq!(kernel.registers(), fresh);
    assert_eq!(host::with(|machine| machine.protected.1.length()), 0);
    let old = kernel.subscribe_to(perf::NUMBER, 0, 0, 0);
    assert_eq!(old, Return::Pair(0, 0));
    let old = kernel.allow(class::READ_ONLY_ALLOW, 1, 0, 0);
    assert_eq!(old, Return::Pair(0, 0));
}

#[test]
fn a_fault_stops_one_app_and_is_reported() {
    let mut kernel = boot(apps(&["bad", "good"]));
    let (pc, ..) = kernel.registers();
    kernel.fault(7, 0x1000_0000);
    assert_eq!(kernel.current, 1);
    assert_eq!(kernel.processes[0].state, State::Stopped);
    let output = printed();
    let line = format!(
        "tockmark-kernel: app bad fault mcause=0x00000007 mtval=0x10000000 mepc=0x{pc:08x}\n"
    );
    assert!(output.contains(&line), "{output}");
    assert!(output.contains("wrote where it may not"));
    assert!(output.contains(&format!(" a1=0x{RAM:08x}")), "{output}");
    assert!(
        !output.contains(" pc=0x"),
        "it stands above as mepc: {output}"
    );
}

#[test]
fn a_word_of_the_image_sets_the_restarts_of_a_faulty_app() {
    host::with(|machine| machine.fault_restarts = 2);
    let mut kernel = boot(apps(&["bad", "good"]));
    let fresh = kernel.registers();
    for _ in 0..2 {
        kernel.memory_operation(0, RAM + 64);
        kernel.fault(7, 0);
        assert_eq!(kernel.current, 1, "the other has its turn");
        while kernel.processes[0].state == State::Printing {
            send_fifo_while_running(&mut kernel);
        }
        run_until_interrupt(&mut kernel);
        assert_eq!((kernel.current, kernel.registers()), (0, fresh));
    }
    assert_eq!(printed().matches(" s11=").count(), 0);
    kernel.fault(7, 0);
    assert_eq!(kernel.processes[0].state, State::Stopped);
    assert_eq!(printed().matches(" s11=").count(), 1, "of the last fault");
}
