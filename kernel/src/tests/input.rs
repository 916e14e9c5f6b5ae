// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Reading from the console.

use super::*;
use crate::drivers::console::NUMBER;

const FUNCTION: u32 = FLASH + 0x200;

/// Lets these bytes come while the core sleeps.
fn comes(text: &str) {
    host::with(|machine| machine.coming.extend(text.bytes()));
}

/// Starts a read of `length` bytes into a buffer of `room` bytes at the start of the process's RAM.
fn read(kernel: &mut Kernel, room: u32, length: u32) -> Return {
    let start = ram_of(kernel.current as u32);
    kernel.memory_operation(0, start + 1024);
    kernel.subscribe_to(NUMBER, 2, flash_of(kernel.current as u32) + 0x200, 3);
    kernel.allow(class::READ_WRITE_ALLOW, 1, start, room);
    kernel.command_to(NUMBER, 2, length, 0)
}

/// The start of a process's RAM.
fn memory(index: u32, length: usize) -> String {
    let start = (ram_of(index) - RAM) as usize;
    host::with(|machine| String::from_utf8_lossy(&machine.ram[start..start + length]).into_owned())
}

#[test]
fn a_read_ends_when_all_its_bytes_have_come() {
    let mut kernel = boot(apps(&["one"]));
    comes("hello, all");
    assert_eq!(read(&mut kernel, 64, 5), Return::Success);
    kernel.wait();
    let (pc, _, arguments) = kernel.registers();
    assert_eq!((pc, arguments), (FUNCTION, [0, 5, 0, 3]));
    assert_eq!(memory(0, 6), "hello\0");
    assert_eq!(host::with(|machine| machine.awaited), None, "no interrupt");
}

#[test]
fn bytes_wait_for_a_read() {
    let mut kernel = boot(apps(&["one"]));
    host::with(|machine| machine.received.extend(b"early"));
    read(&mut kernel, 64, 4);
    kernel.wait();
    assert_eq!(memory(0, 5), "earl\0");
    comes("!");
    assert_eq!(kernel.command_to(NUMBER, 2, 2, 0), Return::Success);
    kernel.wait();
    assert_eq!(memory(0, 3), "y!r");
}

#[test]
fn a_read_is_as_long_as_buffer_and_command_both_allow() {
    for (room, length, expected) in [(3, 9, 3), (9, 3, 3), (400, u32::MAX, 400)] {
        host::reset();
        let mut kernel = boot(apps(&["one"]));
        comes(&"x".repeat(500));
        assert_eq!(read(&mut kernel, room, length), Return::Success);
        kernel.wait();
        assert_eq!(kernel.registers().2[..2], [0, expected]);
        assert_eq!(memory(0, 500).matches('x').count() as u32, expected);
    }
    for (room, length) in [(0, 9), (9, 0)] {
        let mut kernel = boot(apps(&["one"]));
        let refused = read(&mut kernel, room, length);
        assert_eq!(refused, failure(ErrorCode::Size));
    }
}

#[test]
fn one_process_reads_at_a_time() {
    let mut kernel = boot(apps(&["one", "two"]));
    comes("ab");
    read(&mut kernel, 8, 2);
    assert_eq!(read(&mut kernel, 8, 1), failure(ErrorCode::Busy));
    kernel.ecall(class::YIELD, [1, 0, 0, 0]);
    assert_eq!(kernel.current, 1, "it runs meanwhile");
    assert_eq!(read(&mut kernel, 8, 1), failure(ErrorCode::Busy));
    kernel.command_to(NUMBER, 3, 0, 0);
    kernel.wait();
    assert_eq!((kernel.current, memory(0, 2).as_str()), (0, "ab"));
}

#[test]
fn a_cancelled_read_reports_what_it_has() {
    let mut kernel = boot(apps(&["one"]));
    host::with(|machine| machine.received.extend(b"ab"));
    read(&mut kernel, 8, 5);
    for _ in 0..2 {
        assert_eq!(kernel.command_to(NUMBER, 3, 0, 0), Return::Success);
    }
    kernel.wait();
    let cancelled = ErrorCode::Cancel as u32;
    assert_eq!(kernel.registers().2[..2], [cancelled, 2]);
    comes("c");
    read(&mut kernel, 8, 1);
    kernel.wait();
    assert_eq!(
        kernel.registers().2[..2],
        [0, 1],
        "only one upcall for the first"
    );
}

#[test]
fn a_buffer_taken_back_gets_no_byte() {
    let mut kernel = boot(apps(&["one"]));
    read(&mut kernel, 8, 5);
    kernel.allow(class::READ_WRITE_ALLOW, 1, 0, 0);
    comes("abcde");
    kernel.wait();
    assert_eq!(kernel.registers().2[..2], [0, 0]);
    assert_eq!(memory(0, 5), "\0\0\0\0\0");
}

#[test]
fn the_read_of_an_app_that_ends_is_dropped() {
    let mut kernel = boot(apps(&["one", "two"]));
    read(&mut kernel, 8, 5);
    kernel.ecall(class::EXIT, [0, 0, 0, 0]);
    assert_eq!(kernel.current, 1);
    comes("z");
    assert_eq!(read(&mut kernel, 8, 1), Return::Success);
    kernel.wait();
    assert_eq!((memory(0, 1), memory(1, 1)), ("\0".into(), "z".into()));
}
