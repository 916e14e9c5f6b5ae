// SPDX-License-Identifier: Apache-2.0 OR MIT

//! What two processes do together, if one of them cancels, ends, restarts or faults before the end: the
//! other one gets to know, and nothing of the old operation reaches a later one.

use super::relay::*;
use super::*;
use crate::drivers::ipc;
use crate::drivers::registry::{BY_PACKAGE, BY_STRING};
use crate::drivers::relay::NUMBER;
use crate::region::Region;
use crate::slots::MAX_PROCESSES;

const LENGTH: u32 = 2048; // two parts
const ROOM: u32 = RAM + 1024; // of the client
const SECOND_PART: u32 = ROOM + 1024;

/// The service's progress with the client's request.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Stage {
    Asked,
    Taking,
    Owed,
    Responding,
}

/// The event that ends a process's part.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Leave {
    /// By a command: a client cancels, a service stops accepting requests, an owner takes its buffer back.
    Command,
    Exit,
    Restart,
    Fault,
}

const STAGES: [Stage; 4] = [Stage::Asked, Stage::Taking, Stage::Owed, Stage::Responding];
const LEAVES: [Leave; 4] = [Leave::Command, Leave::Exit, Leave::Restart, Leave::Fault];

/// Two clients have sent a request; the service has come this far with the first one's.
fn at(stage: Stage) -> Kernel {
    let mut kernel = several(&["client", "service", "third"]);
    kernel.of(1, ENABLE, 0);
    write(RAM, &[7; LENGTH as usize]);
    kernel.out(0, RAM, LENGTH);
    kernel.room(0, ROOM, LENGTH);
    kernel.room(2, ram_of(2), LENGTH);
    kernel.room(1, ram_of(1), LENGTH);
    kernel.out(1, ram_of(1), LENGTH);
    for client in [0, 2] {
        assert_eq!(kernel.of(client, SEND, id(1)), OK);
    }
    match stage {
        Stage::Asked => {}
        Stage::Taking => kernel.part(1, TAKE),
        Stage::Owed | Stage::Responding => {
            assert_eq!(kernel.of(1, TAKE, 0), [133, LENGTH, id(0), 0]);
        }
    }
    if stage == Stage::Responding {
        kernel.part(1, RESPOND);
        assert_eq!(read(SECOND_PART - 4, 8), [7, 7, 7, 7, 0, 0, 0, 0]);
    }
    kernel
}

impl Kernel {
    /// Makes a process leave; `command` is its command for that.
    fn leaves(&mut self, place: usize, how: Leave, command: u32) {
        self.current = place;
        match how {
            Leave::Command => assert_eq!(self.of(place, command, 0), OK),
            Leave::Exit => self.ecall(class::EXIT, [0; 4]),
            Leave::Restart => self.ecall(class::EXIT, [1, 0, 0, 0]),
            Leave::Fault => self.fault(5, 0),
        }
    }

    /// The words of a client's response, if there is exactly one.
    fn response(&mut self, client: usize) -> Option<[u32; 3]> {
        let words = self.upcall_words(client, NUMBER, 0);
        assert_eq!(self.upcall_words(client, NUMBER, 0), None);
        words
    }
}

#[test]
fn a_client_may_leave_at_any_stage() {
    for stage in STAGES {
        for how in LEAVES {
            println!("{stage:?}, {how:?}");
            let mut kernel = at(stage);
            kernel.leaves(0, how, CANCEL);
            let cancelled = Some([ErrorCode::Cancel as u32, 0, 0]);
            let own = cancelled.filter(|_| how == Leave::Command);
            assert_eq!(kernel.response(0), own);
            if matches!(stage, Stage::Owed | Stage::Responding) {
                assert_eq!(kernel.of(1, RESPOND, 0), failed(ErrorCode::NoDevice));
            }
            assert_eq!(kernel.of(1, RESPOND, 0), failed(ErrorCode::Invalid));
            assert_eq!(read(SECOND_PART, 1024), [0; 1024], "copying has ended");
            assert_eq!(kernel.response(0), None);

            assert_eq!(kernel.of(1, TAKE, 0), [133, 0, id(2), 0]);
            let again = match how {
                Leave::Command => Some((id(0), [133, LENGTH, id(0), 0], [0, LENGTH, 0])),
                Leave::Restart => {
                    let new = id(0) + MAX_PROCESSES as u32;
                    let cut = [ErrorCode::Size as u32, 0, 0]; // its buffers are gone
                    Some((new, [133, 0, new, 0], cut))
                }
                Leave::Exit | Leave::Fault => None,
            };
            if again.is_some() {
                assert_eq!(kernel.of(0, SEND, id(1)), OK);
            }
            assert_eq!(kernel.of(1, RESPOND, 0), OK);
            assert_eq!(kernel.response(2), Some([0, LENGTH, 0]));
            assert_eq!(kernel.response(0), None, "that was the other's");
            if let Some((new, taken, response)) = again {
                assert_eq!(kernel.of(1, TAKE_OF, new), taken);
                assert_eq!(kernel.of(1, RESPOND, 0), OK);
                assert_eq!(kernel.response(0), Some(response));
            }
            assert_eq!(kernel.of(1, TAKE, 0), none(ErrorCode::NoDevice, 0));
        }
    }
}

#[test]
fn a_service_may_leave_at_any_stage() {
    for stage in STAGES {
        for how in LEAVES {
            println!("{stage:?}, {how:?}");
            let mut kernel = at(stage);
            kernel.leaves(1, how, DISABLE);
            let gone = Some([ErrorCode::Uninstalled as u32, 0, 0]);
            assert_eq!(kernel.response(0), gone);
            assert_eq!(kernel.response(2), gone);
            let again = match how {
                Leave::Command => failed(ErrorCode::Uninstalled),
                _ => failed(ErrorCode::NoDevice),
            };
            assert_eq!(kernel.of(0, SEND, id(1)), again);
            let (new, taken, response) = match how {
                Leave::Command => (id(1), [133, LENGTH, id(0), 0], [0, LENGTH, 0]),
                Leave::Restart => {
                    let new = id(1) + MAX_PROCESSES as u32;
                    (new, none(ErrorCode::Size, id(0)), [0; 3]) // its buffers are gone
                }
                Leave::Exit | Leave::Fault => continue,
            };
            assert_eq!(kernel.of(1, RESPOND, 0), failed(ErrorCode::Invalid));
            assert_eq!(kernel.of(1, TAKE, 0), none(ErrorCode::NoDevice, 0));
            assert_eq!(read(SECOND_PART, 1024), [0; 1024], "copying has ended");
            assert_eq!(kernel.of(1, ENABLE, 0), OK);
            assert_eq!(kernel.of(0, SEND, new), OK);
            assert_eq!(kernel.of(1, TAKE, 0), taken);
            assert_eq!(kernel.of(1, RESPOND, 0), OK);
            assert_eq!(kernel.response(0), Some(response));
        }
    }
}

#[test]
fn a_service_that_ends_is_no_longer_registered() {
    for how in &LEAVES[1..] {
        let mut kernel = several(&["client", "service", "third"]);
        assert_eq!(kernel.ask_registry(1, BY_STRING, 1, STRING), 0);
        assert_eq!(kernel.ask_registry(1, BY_PACKAGE, 1, b""), 0);
        assert_eq!(kernel.ask_registry(0, BY_STRING, 2, STRING), 0);
        kernel.leaves(1, *how, 0);
        // The earlier answer names the process that has ended.
        assert_eq!(kernel.upcall_words(0, BY_STRING, 1), Some([0, id(1), 0]));
        assert_eq!(kernel.of(0, SEND, id(1)), failed(ErrorCode::NoDevice));
        let unknown = Some([ErrorCode::NoDevice as u32, 0, 0]);
        for (registry, name) in [(BY_STRING, STRING), (BY_PACKAGE, b"service")] {
            assert_eq!(kernel.ask_registry(0, registry, 2, name), 0);
            assert_eq!(kernel.upcall_words(0, registry, 1), unknown, "{how:?}");
            assert_eq!(kernel.upcall_words(1, registry, 0), None, "{how:?}");
        }
        assert_eq!(kernel.ask_registry(2, BY_STRING, 1, STRING), 0);
        assert_eq!(kernel.ask_registry(0, BY_STRING, 2, STRING), 0);
        assert_eq!(kernel.upcall_words(0, BY_STRING, 1), Some([0, id(2), 0]));
    }
}

/// Process 0 shares a buffer with process 1 and notifies it.
fn share_and_notify(kernel: &mut Kernel) {
    kernel.current = 0;
    kernel.memory_operation(0, RAM + 64);
    kernel.ecall(class::READ_WRITE_ALLOW, [ipc::NUMBER, 1, RAM, 64]);
    assert_eq!(kernel.command_to(ipc::NUMBER, 2, 1, 0), Return::Success);
}

/// Returns the words that process 1 gets by the notification, and the memory that is then open to it.
fn take_notification(kernel: &mut Kernel) -> ([u32; 3], Region) {
    kernel.current = 1;
    kernel.protect();
    kernel.ecall(class::YIELD, [2, ipc::NUMBER, 1, 0]);
    assert_eq!(kernel.current, 1, "the notification was there");
    let words = kernel.registers().2[..3].try_into().unwrap();
    (words, host::with(|machine| machine.windows[0]))
}

#[test]
fn an_owner_may_leave_before_and_after_its_buffer_is_open() {
    let whole = ([0, 64, RAM], Region::new(RAM, RAM + 64));
    for is_open in [false, true] {
        for how in LEAVES {
            println!("{is_open}, {how:?}");
            let mut kernel = several(&["client", "service", "third"]);
            share_and_notify(&mut kernel);
            if is_open {
                assert_eq!(take_notification(&mut kernel), whole);
            }
            kernel.current = 0;
            match how {
                Leave::Command => {
                    kernel.ecall(class::READ_WRITE_ALLOW, [ipc::NUMBER, 1, 0, 0]);
                }
                _ => kernel.leaves(0, how, 0),
            }
            if is_open {
                kernel.current = 1;
                kernel.protect();
                assert_eq!(host::with(|machine| machine.windows[0]), Region::EMPTY);
            } else {
                assert_eq!(take_notification(&mut kernel), ([0; 3], Region::EMPTY));
            }
            if matches!(how, Leave::Command | Leave::Restart) {
                share_and_notify(&mut kernel);
                assert_eq!(take_notification(&mut kernel), whole);
            }
        }
    }
}

#[test]
fn a_receiver_that_restarts_gets_nothing_of_before() {
    for is_open in [false, true] {
        let mut kernel = several(&["client", "service", "third"]);
        share_and_notify(&mut kernel);
        if is_open {
            take_notification(&mut kernel);
        }
        kernel.leaves(1, Leave::Restart, 0);
        kernel.current = 1;
        kernel.protect();
        assert_eq!(host::with(|machine| machine.windows[0]), Region::EMPTY);
        assert_eq!(kernel.upcall_words(1, ipc::NUMBER, 1), None);
        share_and_notify(&mut kernel);
        let (words, window) = take_notification(&mut kernel);
        assert_eq!((words[1], window.length()), (64, 64));
    }
}
