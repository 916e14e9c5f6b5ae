// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The registries and the relay: what a process finds, what is copied, and what happens to a request whose
//! client or service breaks the protocol. The client is process 0, the service process 1.

use super::*;
use crate::abi::UpcallId;
use crate::drivers::registry::{BY_PACKAGE, BY_STRING};
use crate::drivers::relay::NUMBER;
use crate::drivers::{alarm, console, crypto, ipc, perf};
use crate::slots::{MAX_PROCESSES, OWN_UPCALLS};
use crate::upcall::PER_SENDER;

pub const SEND: u32 = 0x10;
pub const CANCEL: u32 = 0x11;
pub const ENABLE: u32 = 0x20;
pub const DISABLE: u32 = 0x21;
pub const TAKE: u32 = 0x22;
pub const TAKE_OF: u32 = 0x23;
pub const RESPOND: u32 = 0x24;

pub const STRING: &[u8] = b"twenty bytes of name";

/// The id of a process that was started once.
pub fn id(place: u32) -> u32 {
    MAX_PROCESSES as u32 + place
}

/// Boots apps with 3 KiB of RAM each.
pub fn several(names: &[&str]) -> Kernel {
    host::reset();
    let mut kernel = boot(apps(names));
    for place in 0..names.len() {
        kernel.current = place;
        kernel.memory_operation(0, ram_of(place as u32) + 3072);
    }
    kernel
}

fn pair() -> Kernel {
    let mut kernel = several(&["client", "service"]);
    kernel.of(1, ENABLE, 0);
    kernel
}

impl Kernel {
    /// Makes a process send a command to the relay, again until the kernel has finished it.
    pub fn of(&mut self, place: usize, number: u32, id: u32) -> [u32; 4] {
        self.current = place;
        loop {
            let before = self.registers().0;
            self.ecall(class::COMMAND, [NUMBER, number, id, 0]);
            let process = &self.processes[place];
            if process.frame.pc() == before {
                return process.frame.words()[10..14].try_into().unwrap();
            }
            assert_eq!(process.frame.pc(), before - 4, "it is at the ecall again");
            assert_eq!(process.frame.words()[10..14], [NUMBER, number, id, 0]);
            self.current = place;
            self.frame().call(before, [0; 4]); // continues after the ecall, as in the trap path
        }
    }

    /// Makes a process send a command that the kernel does not finish, and lets the process repeat it.
    pub fn part(&mut self, place: usize, number: u32) {
        self.current = place;
        let before = self.registers().0;
        self.ecall(class::COMMAND, [NUMBER, number, 0, 0]);
        assert_eq!(self.processes[place].frame.pc(), before - 4);
        self.current = place;
        self.frame().call(before, [0; 4]);
    }

    pub fn out(&mut self, place: usize, address: u32, length: u32) {
        self.current = place;
        self.ecall(class::READ_ONLY_ALLOW, [NUMBER, 0, address, length]);
        assert_eq!(self.registers().2[0], 130);
    }

    pub fn room(&mut self, place: usize, address: u32, length: u32) {
        self.current = place;
        self.ecall(class::READ_WRITE_ALLOW, [NUMBER, 0, address, length]);
        assert_eq!(self.registers().2[0], 130);
    }

    /// The arguments of a waiting upcall.
    pub fn upcall_words(&mut self, place: usize, driver: u32, number: u32) -> Option<[u32; 3]> {
        let id = UpcallId { driver, number };
        let process = &mut self.processes[place];
        let taken = process.take_upcall(id);
        taken.then(|| process.frame.words()[10..13].try_into().unwrap())
    }

    pub fn ask_registry(&mut self, place: usize, registry: u32, number: u32, name: &[u8]) -> u32 {
        self.current = place;
        let at = ram_of(place as u32) + 1024;
        write(at, name);
        self.ecall(class::READ_ONLY_ALLOW, [registry, 0, at, name.len() as u32]);
        self.ecall(class::COMMAND, [registry, number, 0, 0]);
        let [variant, error, ..] = self.registers().2;
        if variant == 128 { 0 } else { error }
    }
}

pub fn write(address: u32, bytes: &[u8]) {
    let at = (address - RAM) as usize;
    host::with(|machine| machine.ram[at..][..bytes.len()].copy_from_slice(bytes));
}

pub fn read(address: u32, length: usize) -> Vec<u8> {
    let at = (address - RAM) as usize;
    host::with(|machine| machine.ram[at..][..length].to_vec())
}

pub const OK: [u32; 4] = [128, 0, 0, 0];

pub fn failed(error: ErrorCode) -> [u32; 4] {
    [0, error as u32, 0, 0]
}

pub fn none(error: ErrorCode, whose: u32) -> [u32; 4] {
    [3, error as u32, whose, 0]
}

#[test]
fn a_service_is_found_by_its_string() {
    let mut kernel = several(&["client", "service", "third"]);
    let unknown = Some([ErrorCode::NoDevice as u32, 0, 0]);
    assert_eq!(kernel.ask_registry(0, BY_STRING, 2, STRING), 0);
    assert_eq!(kernel.upcall_words(0, BY_STRING, 1), unknown);
    assert_eq!(kernel.ask_registry(1, BY_STRING, 1, STRING), 0);
    assert_eq!(kernel.upcall_words(1, BY_STRING, 0), Some([0; 3]));
    let already = ErrorCode::Already as u32;
    assert_eq!(kernel.ask_registry(2, BY_STRING, 1, STRING), already);
    assert_eq!(kernel.ask_registry(0, BY_STRING, 2, STRING), 0);
    assert_eq!(kernel.upcall_words(0, BY_STRING, 1), Some([0, id(1), 0]));
    kernel.ask_registry(1, BY_STRING, 2, STRING);
    assert_eq!(kernel.upcall_words(1, BY_STRING, 1), unknown, "not itself");
    for wrong in [&STRING[1..], b"", &[7; 21]] {
        let size = ErrorCode::Size as u32;
        assert_eq!(kernel.ask_registry(0, BY_STRING, 2, wrong), size);
    }
    let invalid = ErrorCode::Invalid as u32;
    assert_eq!(kernel.ask_registry(0, BY_STRING, 1, &[0; 20]), invalid);
}

#[test]
fn a_service_is_found_by_its_package_once_it_registers() {
    let mut kernel = several(&["client", "service"]);
    let find = |kernel: &mut Kernel, name: &[u8]| {
        assert_eq!(kernel.ask_registry(0, BY_PACKAGE, 2, name), 0);
        kernel.upcall_words(0, BY_PACKAGE, 1).unwrap()
    };
    let unknown = [ErrorCode::NoDevice as u32, 0, 0];
    assert_eq!(find(&mut kernel, b"service"), unknown);
    assert_eq!(kernel.ask_registry(1, BY_PACKAGE, 1, b""), 0);
    assert_eq!(find(&mut kernel, b"service"), [0, id(1), 0]);
    for name in [&b"servic"[..], b"services", b"", b"client"] {
        assert_eq!(find(&mut kernel, name), unknown);
    }
    kernel.current = 1;
    kernel.ecall(class::EXIT, [0, 0, 0, 0]);
    assert_eq!(find(&mut kernel, b"service"), unknown, "it has ended");
}

#[test]
fn a_request_and_its_answer_are_copied() {
    for (from, to) in [(0, 0), (1, 0), (3, 2), (1, 1)] {
        for length in [0, 1, 20, 64, 1023, 1024] {
            let mut kernel = pair();
            let question: Vec<u8> = (0..length).map(|byte| (byte % 251) as u8).collect();
            let answer: Vec<u8> = question.iter().map(|byte| !byte).collect();
            let (out, room) = (RAM + from, RAM + 1026 + to);
            write(out, &question);
            kernel.out(0, out, length);
            kernel.room(0, room, length);
            kernel.room(1, ram_of(1) + to, length);
            assert_eq!(kernel.of(0, SEND, id(1)), OK);
            assert_eq!(kernel.upcall_words(1, NUMBER, 1), Some([id(0), 0, 0]));
            assert_eq!(kernel.of(1, TAKE, 0), [133, length, id(0), 0]);
            assert_eq!(read(ram_of(1) + to, length as usize), question);
            write(ram_of(1) + 1026, &answer);
            kernel.out(1, ram_of(1) + 1026, length);
            assert_eq!(kernel.upcall_words(0, NUMBER, 0), None);
            assert_eq!(kernel.of(1, RESPOND, 0), OK);
            assert_eq!(kernel.upcall_words(0, NUMBER, 0), Some([0, length, 0]));
            assert_eq!(read(room, length as usize), answer);
            assert_eq!(kernel.of(0, SEND, id(1)), OK, "and again");
        }
    }
}

#[test]
fn a_request_that_does_not_fit_is_cut() {
    let mut kernel = pair();
    write(RAM, &[7; 64]);
    kernel.out(0, RAM, 64);
    kernel.room(1, ram_of(1), 48);
    kernel.of(0, SEND, id(1));
    assert_eq!(kernel.of(1, TAKE, 0), none(ErrorCode::Size, id(0)));
    assert_eq!(read(ram_of(1), 64), [[7; 48].as_slice(), &[0; 16]].concat());
    kernel.room(0, RAM + 128, 5);
    kernel.out(1, ram_of(1), 48);
    assert_eq!(kernel.of(1, RESPOND, 0), OK);
    let size = ErrorCode::Size as u32;
    assert_eq!(kernel.upcall_words(0, NUMBER, 0), Some([size, 5, 0]));
    assert_eq!(read(RAM + 128, 6), [7, 7, 7, 7, 7, 0]);
}

#[test]
fn requests_that_are_refused() {
    let mut kernel = several(&["client", "service", "third"]);
    assert_eq!(kernel.of(0, SEND, id(1)), failed(ErrorCode::Uninstalled));
    kernel.of(1, ENABLE, 0);
    kernel.of(0, ENABLE, 0);
    let strangers = [
        id(0),
        id(3),
        1,
        id(1) + 4 * MAX_PROCESSES as u32,
        0,
        u32::MAX,
    ];
    for stranger in strangers {
        assert_eq!(kernel.of(0, SEND, stranger), failed(ErrorCode::NoDevice));
    }
    kernel.current = 0;
    kernel.ecall(class::COMMAND, [NUMBER, SEND, id(1), 1]);
    assert_eq!(kernel.registers().2, failed(ErrorCode::NoDevice));
    assert_eq!(kernel.of(0, SEND, id(1)), OK);
    assert_eq!(kernel.of(0, SEND, id(1)), failed(ErrorCode::Already));
    assert_eq!(kernel.of(0, TAKE, 0), none(ErrorCode::Already, 0));
    assert_eq!(kernel.of(2, TAKE, 0), none(ErrorCode::NoDevice, 0));
    assert_eq!(kernel.of(1, RESPOND, 0), failed(ErrorCode::Invalid));
    assert_eq!(kernel.of(1, TAKE_OF, id(2)), none(ErrorCode::NoDevice, 0));
    assert_eq!(kernel.of(1, TAKE_OF, id(0)), [133, 0, id(0), 0]);
    assert_eq!(kernel.of(1, TAKE, 0), none(ErrorCode::Already, 0));
    assert_eq!(kernel.of(1, 0x30, 0), failed(ErrorCode::NoSupport));
}

#[test]
fn a_request_that_is_cancelled_gets_no_answer() {
    let mut kernel = pair();
    assert_eq!(kernel.of(0, CANCEL, 0), failed(ErrorCode::Invalid));
    kernel.of(0, SEND, id(1));
    kernel.of(1, TAKE, 0);
    assert_eq!(kernel.of(0, CANCEL, 0), OK);
    let cancelled = ErrorCode::Cancel as u32;
    assert_eq!(kernel.upcall_words(0, NUMBER, 0), Some([cancelled, 0, 0]));
    // The response to the old request does not answer the new one.
    assert_eq!(kernel.of(0, SEND, id(1)), OK);
    assert_eq!(kernel.of(1, RESPOND, 0), failed(ErrorCode::NoDevice));
    assert_eq!(kernel.upcall_words(0, NUMBER, 0), None);
    assert_eq!(kernel.of(1, TAKE, 0), [133, 0, id(0), 0]);
}

#[test]
fn clients_of_a_service_that_ends_or_stops_get_an_answer() {
    for end in 0..3 {
        let mut kernel = several(&["client", "service", "third"]);
        kernel.of(1, ENABLE, 0);
        kernel.of(0, SEND, id(1));
        kernel.of(2, SEND, id(1));
        kernel.of(1, TAKE, 0);
        match end {
            0 => assert_eq!(kernel.of(1, DISABLE, 0), OK),
            _ => {
                kernel.current = 1;
                kernel.ecall(class::EXIT, [end - 1, 0, 0, 0]);
            }
        }
        let gone = Some([ErrorCode::Uninstalled as u32, 0, 0]);
        assert_eq!(kernel.upcall_words(0, NUMBER, 0), gone);
        assert_eq!(kernel.upcall_words(2, NUMBER, 0), gone);
        let again = kernel.of(0, SEND, id(1));
        match end {
            0 => assert_eq!(again, failed(ErrorCode::Uninstalled)),
            _ => assert_eq!(again, failed(ErrorCode::NoDevice), "that one is no more"),
        }
    }
}

#[test]
fn a_restarted_client_is_another_process() {
    let mut kernel = pair();
    kernel.of(0, SEND, id(1));
    kernel.of(1, TAKE, 0);
    kernel.current = 0;
    kernel.ecall(class::EXIT, [1, 0, 0, 0]);
    let new = id(0) + MAX_PROCESSES as u32;
    assert_eq!(kernel.of(0, SEND, id(1)), OK);
    assert_eq!(kernel.of(1, RESPOND, 0), failed(ErrorCode::NoDevice));
    assert_eq!(kernel.upcall_words(0, NUMBER, 0), None);
    assert_eq!(kernel.of(1, TAKE_OF, id(0)), none(ErrorCode::NoDevice, 0));
    assert_eq!(
        kernel.upcall_words(1, NUMBER, 1),
        Some([new, 0, 0]),
        "the newer alone"
    );
    assert_eq!(kernel.upcall_words(1, NUMBER, 1), None);
    assert_eq!(kernel.of(1, TAKE, 0), [133, 0, new, 0]);
}

#[test]
fn each_client_has_its_turn() {
    let mut kernel = several(&["client", "service", "third", "fourth"]);
    kernel.of(1, ENABLE, 0);
    let mut served = Vec::new();
    for client in [0, 2, 3] {
        assert_eq!(kernel.of(client, SEND, id(1)), OK);
    }
    for _ in 0..6 {
        let client = kernel.of(1, TAKE, 0)[2] - id(0);
        assert_eq!(kernel.of(1, RESPOND, 0), OK);
        assert_eq!(kernel.of(client as usize, SEND, id(1)), OK);
        served.push(client);
    }
    assert_eq!(served, [0, 2, 3, 0, 2, 3]);
}

/// The service is taking 2 KiB, and 1 KiB is copied.
fn half_taken() -> Kernel {
    let mut kernel = pair();
    write(RAM, &[7; 2048]);
    kernel.out(0, RAM, 2048);
    kernel.room(1, ram_of(1), 2048);
    kernel.of(0, SEND, id(1));
    kernel.part(1, TAKE);
    assert_eq!(read(ram_of(1) + 1020, 8), [7, 7, 7, 7, 0, 0, 0, 0]);
    kernel
}

#[test]
fn between_parts_a_client_may_take_its_buffer_away() {
    for (length, result) in [(0, [133, 0, id(0), 0]), (1200, [133, 1200, id(0), 0])] {
        let mut kernel = half_taken();
        kernel.out(0, RAM, length);
        assert_eq!(kernel.of(1, TAKE, 0), result);
    }
    let mut kernel = half_taken();
    kernel.room(1, ram_of(1) + 8, 4);
    assert_eq!(kernel.of(1, TAKE, 0), none(ErrorCode::Size, id(0)));
    assert_eq!(read(ram_of(1) + 1024, 8), [0; 8], "and no more was copied");
}

#[test]
fn a_registration_that_cannot_be_reported_is_not_done() {
    let mut kernel = pair();
    assert_eq!(kernel.ask_registry(1, BY_STRING, 1, STRING), 0);
    while kernel.command_to(perf::NUMBER, 8, 0, 0) == Return::Success {}
    let other = b"another string of 20";
    let full = ErrorCode::NoMemory as u32;
    assert_eq!(kernel.ask_registry(1, BY_STRING, 1, other), full);
    let unknown = Some([ErrorCode::NoDevice as u32, 0, 0]);
    for (string, words) in [(STRING, Some([0, id(1), 0])), (other, unknown)] {
        assert_eq!(kernel.ask_registry(0, BY_STRING, 2, string), 0);
        assert_eq!(kernel.upcall_words(0, BY_STRING, 1), words);
    }
}

/// The victim serves the relay and calls each driver once before it yields. The others flood it, and it
/// floods itself.
#[test]
fn no_flood_takes_the_place_of_another_upcall() {
    let names = ["victim", "b", "c", "d", "e", "f", "g", "h"];
    let mut kernel = several(&names[..MAX_PROCESSES]);
    kernel.of(0, ENABLE, 0);
    kernel.of(1, ENABLE, 0);
    kernel.current = 0;
    while kernel.command_to(perf::NUMBER, 8, 0, 0) == Return::Success {}
    for sender in 1..MAX_PROCESSES {
        kernel.current = sender;
        for number in (2..4).cycle().take(PER_SENDER) {
            let notified = kernel.command_to(ipc::NUMBER, number, 0, 0);
            assert_eq!(notified, Return::Success);
        }
        assert_eq!(kernel.of(sender, SEND, id(0)), OK);
    }
    kernel.current = 0;
    kernel.command_to(alarm::NUMBER, 5, 0, 0);
    kernel.allow(class::READ_ONLY_ALLOW, 1, RAM, 8);
    assert_eq!(kernel.command_to(console::NUMBER, 1, 8, 0), Return::Success);
    kernel.allow(class::READ_WRITE_ALLOW, 1, RAM, 8);
    host::with(|machine| machine.received.push_back(b'x'));
    assert_eq!(kernel.command_to(console::NUMBER, 2, 1, 0), Return::Success);
    for number in [1, 2] {
        assert_eq!(kernel.ask_registry(0, BY_STRING, number, STRING), 0);
        assert_eq!(kernel.ask_registry(0, BY_PACKAGE, number, b"victim"), 0);
    }
    assert_eq!(kernel.of(0, SEND, id(1)), OK);
    assert_eq!(kernel.of(0, CANCEL, 0), OK);
    kernel.ecall(class::READ_WRITE_ALLOW, [crypto::NUMBER, 0, RAM, 512]);
    assert_eq!(kernel.command_to(crypto::NUMBER, 1, 0, 0), Return::Success);
    kernel.interrupt();
    send_everything(&mut kernel);
    for own in OWN_UPCALLS {
        let words = kernel.upcall_words(0, own.driver, own.number);
        assert!(words.is_some(), "{own:?}");
    }
    for sender in 1..MAX_PROCESSES as u32 {
        let process = &mut kernel.processes[0];
        let request = UpcallId {
            driver: NUMBER,
            number: 1,
        };
        assert!(process.take_upcall(request), "of {sender}");
    }
}
