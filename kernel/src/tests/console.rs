// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Writing to the console.

use super::*;
use crate::abi::UpcallId;
use crate::drivers::{console::NUMBER, debug};
use crate::tbf::tests::Numbers;
use proptest::prelude::*;

const FUNCTION: u32 = FLASH + 0x200;

/// Starts a write of `text`, from the start of the current process's RAM.
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
fn a_write_is_sent_and_reports_its_length() {
    let mut kernel = boot(apps(&["one"]));
    kernel.subscribe_to(NUMBER, 1, FUNCTION, 3);
    assert_eq!(write(&mut kernel, "hello\n"), Return::Success);
    kernel.wait();
    assert!(printed().ends_with("\nhello\n"));
    let (pc, _, arguments) = kernel.registers();
    assert_eq!((pc, arguments), (FUNCTION, [6, 0, 0, 3]));
}

#[test]
fn a_long_write_is_sent_in_pieces() {
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
    send_fifo_while_running(&mut kernel);
    let (first, second) = ("1".repeat(300), "2".repeat(200));
    kernel.subscribe_to(NUMBER, 1, FUNCTION, 0);
    write(&mut kernel, &first);
    kernel.wait();
    assert_eq!(kernel.current, 1, "the other one runs meanwhile");
    kernel.subscribe_to(NUMBER, 1, flash_of(1) + 0x200, 0);
    write(&mut kernel, &second);
    kernel.wait();
    assert_eq!(kernel.current, 1);
    kernel.wait();
    assert_eq!(kernel.current, 0);
    let turns = [
        (1, 64),
        (2, 64),
        (1, 64),
        (2, 64),
        (1, 64),
        (2, 64),
        (1, 64),
        (2, 8),
        (1, 44),
    ];
    let pieces = turns.map(|(digit, length)| digit.to_string().repeat(length));
    assert_eq!(host::with(|machine| machine.pieces[1..].to_vec()), pieces);
}

#[test]
fn a_turn_is_no_shorter_where_the_uart_is_smaller() {
    let mut kernel = boot(apps(&["one", "two"]));
    send_fifo_while_running(&mut kernel);
    host::with(|machine| machine.fifo_size = 32);
    kernel.subscribe_to(NUMBER, 1, FUNCTION, 0);
    write(&mut kernel, &"1".repeat(150));
    kernel.wait();
    kernel.subscribe_to(NUMBER, 1, flash_of(1) + 0x200, 0);
    write(&mut kernel, &"2".repeat(100));
    kernel.wait();
    kernel.wait();
    let turns = [("1", 64), ("2", 64), ("1", 64), ("2", 36), ("1", 22)];
    let text = turns.map(|(digit, length)| digit.repeat(length)).concat();
    assert_eq!(host::with(|machine| machine.pieces[1..].concat()), text);
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

/// While the bytes of one process are sent, the next process's buffer is taken back. Its write ends with
/// nothing written, and later writers are served, whether or not their process has ended.
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
        send_fifo_while_running(&mut kernel);
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

/// One app prints without end; the other one's line follows one of its lines.
#[test]
fn prints_without_buffer_take_turns_with_writes() {
    let mut kernel = boot(apps(&["one", "two"]));
    kernel.subscribe_to(NUMBER, 1, FUNCTION, 0);
    for _ in 0..3 {
        assert_eq!(kernel.current, 0);
        assert_eq!(write(&mut kernel, "one\n"), Return::Success);
        kernel.wait();
        for _ in 0..4 {
            if kernel.current == 1 {
                kernel.ecall(class::COMMAND, [debug::NUMBER, 2, 7, 0]);
            }
        }
        assert_eq!(kernel.current, 0);
        assert_eq!(kernel.registers().2[0], 4);
    }
    let output = printed();
    let lines: Vec<&str> = output.lines().skip(1).collect();
    assert_eq!(lines.iter().filter(|line| **line == "one").count(), 3);
    assert!(lines.len() <= 6, "{output}");
    assert!(lines.contains(&"tockmark-kernel: app two prints 0x7"));
}

#[test]
fn a_line_of_an_app_is_sent_before_the_app_continues() {
    let mut kernel = boot(apps(&["one"]));
    for number in 0..9 {
        assert_eq!(
            kernel.command_to(debug::NUMBER, 2, number, 0),
            Return::Success
        );
        assert!(printed().ends_with(&format!("app one prints 0x{number:x}\n")));
    }
}

/// The bug of the issue: later lines kept a short write from its turn.
#[test]
fn a_write_is_reported_before_any_line() {
    let mut kernel = boot(apps(&["one", "two", "three"]));
    send_fifo_while_running(&mut kernel);
    kernel.subscribe_to(NUMBER, 1, FUNCTION, 0);
    write(&mut kernel, "1111");
    for process in 0..2 {
        assert_eq!(kernel.current, process);
        kernel.ecall(class::COMMAND, [debug::NUMBER, 2, 7, 0]);
    }
    assert_eq!(kernel.current, 2, "the others wait for their turns");
    write(&mut kernel, "3333");
    send_fifo_while_running(&mut kernel);
    let (driver, number) = (NUMBER, 1);
    let written = UpcallId { driver, number };
    assert!(kernel.processes[0].take_upcall(written));
    send_everything(&mut kernel);
    let line = |name| format!("tockmark-kernel: app {name} prints 0x7\n");
    let all = format!("1111{}3333{}", line("two"), line("one"));
    assert!(printed().ends_with(&all), "{}", printed());
}

#[test]
fn writes_and_prints_of_an_app_keep_their_order() {
    let mut kernel = boot(apps(&["one"]));
    write(&mut kernel, &"w".repeat(300));
    kernel.command_to(debug::NUMBER, 1, 2, 0);
    let last = format!("{}tockmark-kernel: app one alert 0x2\n", "w".repeat(300));
    assert!(printed().ends_with(&last), "{}", printed());
}

/// A turn: its process, and the text that it sent.
struct Turn {
    process: usize,
    text: String,
}

/// Splits these pieces into turns. A write consists of its process's letter only; a line begins with the
/// kernel's name and has the process's name. If the UART had no room, it continues in the next piece.
fn turns(pieces: &[String], fifo_size: usize) -> Vec<Turn> {
    let mut turns: Vec<Turn> = Vec::new();
    let process = |letter: u8| "abcd".bytes().position(|name| name == letter);
    for text in pieces.iter().cloned() {
        let writes =
            process(text.as_bytes()[0]).filter(|_| text.matches(&text[..1]).count() == text.len());
        let says = text
            .strip_prefix("tockmark-kernel: app ")
            .and_then(|rest| process(rest.as_bytes()[0]));
        match (writes.or(says), turns.last_mut()) {
            (None, Some(last)) => last.text += &text,
            (None, None) => {} // of an earlier turn
            (Some(process), Some(last))
                if last.process == process && last.text.len() == fifo_size && fifo_size < 64 =>
            {
                last.text += &text;
            }
            (Some(process), _) => turns.push(Turn { process, text }),
        }
    }
    turns
}

/// Does something that an attacker might do, mostly to occupy the UART.
fn attack(kernel: &mut Kernel, numbers: &mut Numbers) {
    let text = "abcd"[kernel.current..=kernel.current].repeat(300);
    let start = ram_of(kernel.current as u32);
    let length = [0, 1, 4, 63, 64, 65, 300][numbers.below(7) as usize];
    match numbers.below(16) {
        0..4 => drop(write(kernel, &text[..length])),
        4..8 => kernel.ecall(class::COMMAND, [debug::NUMBER, 2, 7, 0]),
        8 => kernel.ecall(class::COMMAND, [debug::NUMBER, 3, u32::MAX, u32::MAX]),
        9 => drop(kernel.allow(class::READ_ONLY_ALLOW, 1, start, length as u32)),
        10..12 => drop(kernel.allow(class::READ_ONLY_ALLOW, 1, 0, 0)),
        12 => kernel.ecall(class::EXIT, [1, 0, 0, 0]),
        13 => kernel.fault(5, 0),
        14 => kernel.ecall(class::YIELD, [0, 0, 0, 0]),
        _ => drop(kernel.subscribe_to(NUMBER, 1, FUNCTION, 0)),
    }
}

proptest! {
    /// For any calls of three processes: between two turns of a waiting process each other one has at most
    /// one turn, and a write is reported as soon as its bytes have been sent.
    #[test]
    fn between_two_turns_of_a_process_each_other_has_at_most_one(
        seed in 1..u64::MAX, fifo_size in prop_oneof![Just(128usize), Just(32)], victim in 0..4usize,
    ) {
        host::reset();
        host::with(|machine| machine.fault_restarts = u32::MAX);
        let mut kernel = boot(apps(&["a", "b", "c", "d"]));
        send_fifo_while_running(&mut kernel);
        host::with(|machine| machine.fifo_size = fifo_size);
        let mut numbers = Numbers(seed);
        // The number of bytes that the victim waits for, and whether the UART had other bytes.
        let mut wants = None;
        let mut ends = 0;
        for _ in 0..400 {
            if let Some((wanted, before)) = wants {
                let pieces = host::with(|machine| machine.pieces.clone());
                let waited = turns(pieces.get(before..).unwrap_or_default(), fifo_size);
                let own = waited.iter().filter(|turn| turn.process == victim);
                if own.map(|turn| turn.text.len()).sum::<usize>() == wanted {
                    let awake = kernel.current == victim || kernel.processes[victim].is_runnable();
                    prop_assert!(awake);
                    for between in waited.split(|turn| turn.process == victim) {
                        for (place, turn) in between.iter().enumerate() {
                            let again = |other: &Turn| other.process == turn.process;
                            prop_assert!(!between[..place].iter().any(again), "{pieces:?}");
                            prop_assert!(turn.text.len() <= 64 || turn.text.ends_with('\n'));
                        }
                    }
                    wants = None;
                    ends += 1;
                }
            }
            if kernel.current != victim {
                attack(&mut kernel, &mut numbers);
            } else if wants.is_none() {
                let sending = host::with(|machine| {
                    machine.pieces.clear();
                    usize::from(!machine.fifo.is_empty())
                });
                if numbers.below(2) == 0 {
                    let text = "abcd"[victim..=victim].repeat(150);
                    kernel.subscribe_to(NUMBER, 1, flash_of(victim as u32) + 0x200, 0);
                    prop_assert_eq!(write(&mut kernel, &text), Return::Success);
                    wants = Some((text.len(), sending));
                    kernel.wait();
                } else {
                    wants = Some(("tockmark-kernel: app a prints 0x7\n".len(), sending));
                    kernel.ecall(class::COMMAND, [debug::NUMBER, 2, 7, 0]);
                }
            }
            match numbers.below(8) {
                0 => host::with(|machine| machine.now += 10_000),
                1..4 if host::with(|machine| !machine.fifo.is_empty()) => Hardware::wait_for_interrupt(),
                _ => {}
            }
            for _ in 0..4 {
                let pending = Hardware::pending_interrupts();
                if pending.timer || pending.external {
                    kernel.interrupt();
                }
            }
        }
        prop_assert!(ends > 0);
    }
}
