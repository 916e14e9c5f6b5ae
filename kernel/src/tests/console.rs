// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Writing to the console.

use super::*;
use crate::drivers::{console::NUMBER, debug};

const FUNCTION: u32 = FLASH + 0x200;

/// Starts a write of `text`, which is put at the start of the current process's RAM.
fn write(kernel: &mut Kernel, text: &str) -> Return {
    let start = ram_of(kernel.current as u32);
    kernel.memory_operation(0, start + 1024);
    host::with(|machine| {
        let offset = (start - RAM) as usize;
        machine.ram[offset..offset + text.len()].copy_from_slice(text.as_bytes());
    });
    kernel.allow(class::READ_ONLY_ALLOW, 1, start, text.len() as u32);
    kernel.command_to(NUMBER, 1, text.len() as u32, 0)
}

#[test]
fn a_write_goes_out_and_reports_its_length() {
    let mut kernel = boot(apps(&["one"]));
    kernel.subscribe_to(NUMBER, 1, FUNCTION, 3);
    assert_eq!(write(&mut kernel, "hello\n"), Return::Success);
    kernel.wait();
    assert!(printed().ends_with("\nhello\n"));
    let (pc, _, arguments) = kernel.registers();
    assert_eq!((pc, arguments), (FUNCTION, [6, 0, 0, 3]));
}

#[test]
fn a_long_write_goes_out_in_pieces() {
    let mut kernel = boot(apps(&["one"]));
    kernel.subscribe_to(NUMBER, 1, FUNCTION, 0);
    let text: String = ('a'..='z').cycle().take(777).collect();
    assert_eq!(write(&mut kernel, &text), Return::Success);
    kernel.wait();
    assert!(printed().ends_with(&text));
    assert_eq!(kernel.registers().2[0], 777);
}

#[test]
fn a_write_is_as_long_as_buffer_and_command_both_allow() {
    let mut kernel = boot(apps(&["one"]));
    kernel.subscribe_to(NUMBER, 1, FUNCTION, 0);
    write(&mut kernel, "abc");
    let busy = kernel.command_to(NUMBER, 1, 1, 0);
    assert_eq!(busy, failure(ErrorCode::Busy), "one at a time");
    kernel.wait();
    for (asked, expected) in [(2, 2), (99, 3), (u32::MAX, 3), (0, 0)] {
        assert_eq!(kernel.command_to(NUMBER, 1, asked, 0), Return::Success);
        kernel.wait();
        assert_eq!(kernel.registers().2[0], expected);
    }
    assert!(printed().ends_with("abcababcabc"));
}

#[test]
fn a_buffer_taken_back_ends_the_write() {
    let mut kernel = boot(apps(&["one"]));
    kernel.subscribe_to(NUMBER, 1, FUNCTION, 0);
    let text = "x".repeat(500);
    write(&mut kernel, &text);
    kernel.allow(class::READ_ONLY_ALLOW, 1, 0, 0);
    kernel.wait();
    let sent = kernel.registers().2[0];
    assert!(sent < 128, "what the UART had taken, and no more");
    assert_eq!(printed().matches('x').count() as u32, sent);
}

#[test]
fn writes_of_two_apps_take_turns() {
    let mut kernel = boot(apps(&["one", "two"]));
    let (first, second) = ("1".repeat(300), "2".repeat(300));
    kernel.subscribe_to(NUMBER, 1, FUNCTION, 0);
    write(&mut kernel, &first);
    kernel.wait();
    assert_eq!(kernel.current, 1, "the other one runs meanwhile");
    kernel.subscribe_to(NUMBER, 1, flash_of(1) + 0x200, 0);
    write(&mut kernel, &second);
    kernel.wait();
    assert_eq!(kernel.current, 0);
    kernel.wait();
    assert_eq!(kernel.current, 1);
    let turns = [128, 128, 128, 128, 44, 44]
        .into_iter()
        .zip(["1", "2"].into_iter().cycle());
    let taken: String = turns.map(|(length, digit)| digit.repeat(length)).collect();
    assert!(printed().ends_with(&taken));
}

#[test]
fn the_write_of_an_app_that_ends_is_dropped() {
    let mut kernel = boot(apps(&["one", "two"]));
    write(&mut kernel, &"1".repeat(300));
    kernel.ecall(class::EXIT, [0, 0, 0, 0]);
    assert_eq!(kernel.current, 1);
    kernel.subscribe_to(NUMBER, 1, flash_of(1) + 0x200, 0);
    write(&mut kernel, "two");
    kernel.wait();
    assert!(printed().ends_with("1two"));
    assert!(printed().matches('1').count() < 130);
}

/// While one process's bytes go out, the next one's buffer is taken back: that write ends with nothing
/// written, and whoever writes after it is heard, whether its process has ended or not.
#[test]
fn a_buffer_taken_back_before_its_turn_blocks_nobody() {
    for ends in [false, true] {
        host::reset();
        let mut kernel = boot(apps(&["one", "two"]));
        kernel.subscribe_to(NUMBER, 1, FUNCTION, 0);
        write(&mut kernel, "first\n");
        kernel.wait();
        assert_eq!(kernel.current, 1);
        kernel.subscribe_to(NUMBER, 1, flash_of(1) + 0x200, 0);
        write(&mut kernel, "never\n");
        kernel.allow(class::READ_ONLY_ALLOW, 1, 0, 0);
        the_uart_is_done(&mut kernel);
        if ends {
            kernel.ecall(class::EXIT, [0, 0, 0, 0]);
        } else {
            kernel.wait();
            assert_eq!((kernel.current, kernel.registers().2[0]), (1, 0));
            kernel.wait();
        }
        assert_eq!((kernel.current, kernel.registers().2[0]), (0, 6));
        write(&mut kernel, "last\n");
        kernel.wait();
        assert!(printed().ends_with("first\nlast\n"));
    }
}

/// One app prints without end; the other one's line comes after one of its.
#[test]
fn prints_without_buffer_take_turns_with_writes() {
    let mut kernel = boot(apps(&["one", "two"]));
    kernel.subscribe_to(NUMBER, 1, FUNCTION, 0);
    for _ in 0..3 {
        assert_eq!(kernel.current, 0);
        assert_eq!(write(&mut kernel, "one\n"), Return::Success);
        kernel.wait();
        while kernel.current == 1 {
            kernel.ecall(class::COMMAND, [debug::NUMBER, 2, 7, 0]);
        }
        assert_eq!(kernel.registers().2[0], 4);
    }
    let said = printed();
    let lines: Vec<&str> = said.lines().skip(1).collect();
    assert_eq!(lines.iter().filter(|line| **line == "one").count(), 3);
    assert!(lines.len() <= 6, "{said}");
    assert!(lines.contains(&"tockmark-kernel: app two prints 0x7"));
}

#[test]
fn a_line_of_an_app_is_out_before_it_goes_on() {
    let mut kernel = boot(apps(&["one"]));
    for number in 0..9 {
        assert_eq!(
            kernel.command_to(debug::NUMBER, 2, number, 0),
            Return::Success
        );
        assert!(printed().ends_with(&format!("app one prints 0x{number:x}\n")));
    }
}

/// The UART has sent what it had, while a process runs.
fn the_uart_is_done(kernel: &mut Kernel) {
    Hardware::wait_for_interrupt();
    kernel.interrupt();
}
