// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Processes that find, notify and share with each other. The client is process 0, the service process 1.

use super::*;
use crate::drivers::{ipc::NUMBER, perf};
use crate::process::State;
use crate::region::Region;
use crate::slots::MAX_PROCESSES;
use crate::upcall::PER_SENDER;

const CLIENT: u32 = 0;
const SERVICE: u32 = 1;

/// Both have 1 KiB of RAM; the service waits for notifications, and the client runs.
fn client_and_service() -> Kernel {
    let mut kernel = boot(apps(&["client", "service"]));
    kernel.subscribe_to(NUMBER, SERVICE, FLASH + 0x200, 70);
    kernel.memory_operation(0, RAM + 1024);
    end_slice(&mut kernel);
    assert_eq!(kernel.current, 1);
    kernel.subscribe_to(NUMBER, SERVICE, flash_of(1) + 0x300, 71);
    kernel.memory_operation(0, ram_of(1) + 1024);
    kernel.wait();
    assert_eq!(kernel.current, 0);
    kernel
}

/// Ends the current process's slice.
fn end_slice(kernel: &mut Kernel) {
    host::with(|machine| machine.now = machine.timer.expect("a slice"));
    kernel.interrupt();
}

fn share(kernel: &mut Kernel, with: u32, address: u32, length: u32) -> Return {
    kernel.call(class::READ_WRITE_ALLOW, [NUMBER, with, address, length])
}

fn windows() -> Vec<Region> {
    let all = host::with(|machine| machine.windows);
    all.into_iter().filter(|one| one.length() > 0).collect()
}

#[test]
fn a_service_is_found_by_its_name() {
    let mut kernel = boot(apps(&["client", "service"]));
    kernel.memory_operation(0, RAM + 1024);
    let mut discover = |name: &str| {
        host::with(|machine| machine.ram[..name.len()].copy_from_slice(name.as_bytes()));
        kernel.call(class::READ_ONLY_ALLOW, [NUMBER, 0, RAM, name.len() as u32]);
        kernel.command_to(NUMBER, 1, 0, 0)
    };
    assert_eq!(discover("service"), Return::U32(1));
    assert_eq!(discover("client"), Return::U32(0), "itself included");
    for wrong in ["", "servic", "services", "service\0", "none"] {
        assert_eq!(discover(wrong), failure(ErrorCode::NoDevice), "{wrong:?}");
    }
}

#[test]
fn a_notification_comes_with_the_shared_buffer() {
    let mut kernel = client_and_service();
    assert_eq!(
        share(&mut kernel, SERVICE, RAM + 64, 256),
        Return::Pair(0, 0)
    );
    assert_eq!(kernel.command_to(NUMBER, 2, SERVICE, 0), Return::Success);
    assert_eq!(kernel.current, 0, "to notify is not to yield");
    assert_eq!(windows(), []);
    kernel.wait();
    let (pc, _, arguments) = kernel.registers();
    assert_eq!(pc, flash_of(1) + 0x300);
    assert_eq!(arguments, [CLIENT, 256, RAM + 64, 71]);
    assert_eq!(windows(), [Region::new(RAM + 64, RAM + 320)]);
    // And back, without a shared buffer.
    assert_eq!(kernel.command_to(NUMBER, 3, CLIENT, 0), Return::Success);
    kernel.wait();
    let (pc, _, arguments) = kernel.registers();
    assert_eq!((pc, arguments), (FLASH + 0x200, [SERVICE, 0, 0, 70]));
    assert_eq!(windows(), [], "the client reaches what is its own");
}

#[test]
fn a_buffer_taken_back_cannot_be_accessed() {
    for end in 0..3 {
        let mut kernel = client_and_service();
        share(&mut kernel, SERVICE, RAM, 64);
        kernel.command_to(NUMBER, 2, SERVICE, 0);
        kernel.wait();
        assert_eq!(windows().len(), 1);
        kernel.command_to(NUMBER, 3, CLIENT, 0);
        end_slice(&mut kernel);
        match end {
            0 => assert_eq!(share(&mut kernel, SERVICE, 0, 0), Return::Pair(RAM, 64)),
            1 => assert_eq!(
                share(&mut kernel, SERVICE, RAM + 4, 60),
                Return::Pair(RAM, 64)
            ),
            _ => kernel.fault(5, 0),
        }
        if kernel.current == 0 {
            kernel.wait();
        }
        assert_eq!(kernel.current, 1);
        assert_eq!(windows(), []);
    }
}

#[test]
fn a_buffer_that_cannot_be_opened_has_length_0() {
    let mut kernel = client_and_service();
    for (address, length) in [(RAM + 2, 64), (RAM, 30), (RAM, 0), (0, 0)] {
        share(&mut kernel, SERVICE, address, length);
        kernel.command_to(NUMBER, 2, SERVICE, 0);
        kernel.wait();
        assert_eq!(kernel.registers().2, [CLIENT, 0, 0, 71]);
        assert_eq!(windows(), []);
        kernel.subscribe_to(perf::NUMBER, 0, flash_of(1) + 0x200, 0);
        kernel.command_to(NUMBER, 3, CLIENT, 0);
        kernel.wait();
        assert_eq!(kernel.current, 0);
    }
}

#[test]
fn a_call_that_opens_a_buffer_sets_the_pmp() {
    let mut kernel = client_and_service();
    share(&mut kernel, SERVICE, RAM, 64);
    kernel.command_to(NUMBER, 2, SERVICE, 0);
    kernel.command_to(NUMBER, 2, SERVICE, 0);
    kernel.wait();
    // The client shares another buffer before the service takes the second notification.
    wake_client_and_preempt_service(&mut kernel);
    share(&mut kernel, SERVICE, RAM + 128, 8);
    end_slice(&mut kernel);
    assert_eq!(windows(), []);
    kernel.ecall(class::YIELD, [2, NUMBER, SERVICE, 0]);
    assert_eq!(kernel.current, 1, "it was there already");
    assert_eq!(kernel.registers().2[..3], [CLIENT, 8, RAM + 128]);
    assert_eq!(windows(), [Region::new(RAM + 128, RAM + 136)]);
}

/// Makes the service wake the client and be preempted.
fn wake_client_and_preempt_service(kernel: &mut Kernel) {
    kernel.command_to(NUMBER, 3, CLIENT, 0);
    end_slice(kernel);
    assert_eq!(kernel.current, 0);
}

#[test]
fn notifications_that_are_refused() {
    let mut kernel = client_and_service();
    for number in [2, 3] {
        for target in [2, 3, 4, u32::MAX] {
            let result = kernel.command_to(NUMBER, number, target, 0);
            assert_eq!(result, failure(ErrorCode::Invalid));
        }
        assert_eq!(
            kernel.command_to(NUMBER, number, CLIENT, 0),
            Return::Success
        );
    }
    let none = share(&mut kernel, MAX_PROCESSES as u32, RAM, 4);
    assert_eq!(none, Return::FailurePair(ErrorCode::NoSupport, RAM, 4));
}

#[test]
fn an_ended_service_is_nodevice() {
    let mut kernel = client_and_service();
    kernel.processes[1].state = State::Stopped;
    let result = kernel.command_to(NUMBER, 2, SERVICE, 0);
    assert_eq!(result, failure(ErrorCode::NoDevice));
}

#[test]
fn a_flood_of_notifications_leaves_room_for_others() {
    let mut kernel = boot(apps(&["client", "service", "third", "fourth"]));
    for sender in [0, 2, 3] {
        kernel.current = sender;
        for _ in 0..PER_SENDER {
            assert_eq!(kernel.command_to(NUMBER, 2, SERVICE, 0), Return::Success);
        }
        let full = kernel.command_to(NUMBER, 2, SERVICE, 0);
        assert_eq!(full, failure(ErrorCode::NoMemory));
    }
}

#[test]
fn a_service_that_subscribes_late_misses_nothing() {
    let mut kernel = boot(apps(&["client", "service"]));
    kernel.command_to(NUMBER, 2, SERVICE, 0);
    kernel.wait();
    kernel.subscribe_to(NUMBER, SERVICE, flash_of(1) + 0x300, 0);
    kernel.wait();
    assert_eq!(kernel.registers().0, flash_of(1) + 0x300);
}

#[test]
fn a_restarted_service_has_no_access_until_notified() {
    let mut kernel = client_and_service();
    share(&mut kernel, SERVICE, RAM, 64);
    kernel.command_to(NUMBER, 2, SERVICE, 0);
    kernel.wait();
    assert_eq!(windows().len(), 1);
    kernel.ecall(class::EXIT, [1, 0, 0, 0]);
    assert_eq!(kernel.current, 1);
    assert_eq!(windows(), []);
}
