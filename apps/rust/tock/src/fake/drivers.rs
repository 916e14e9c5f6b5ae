// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The built-in drivers of a fake kernel: commands with two arguments.

use super::{Answer, read, schedule, with};
use crate::abi;
use crate::error::ErrorCode;

/// Prints the allowed buffer at once.
pub fn console(command: u32, length: u32, _second: u32) -> Answer {
    if command != abi::TOCK_CONSOLE_WRITE {
        return Answer::Fails(ErrorCode::NoSupport);
    }
    let mut text = read(abi::TOCK_CONSOLE, abi::TOCK_CONSOLE_WRITE);
    text.truncate(length as usize);
    let written = [text.len() as u32, 0, 0];
    schedule(abi::TOCK_CONSOLE, abi::TOCK_CONSOLE_WRITE, written);
    with(|state| state.printed.append(&mut text));
    Answer::Done
}

/// The time is the counter. An alarm rings at once.
pub fn alarm(command: u32, when: u32, _second: u32) -> Answer {
    #[cfg(not(feature = "abi-v1"))]
    const SET: u32 = abi::TOCK_ALARM_AFTER;
    #[cfg(feature = "abi-v1")]
    const SET: u32 = abi::TOCK_ALARM_AT;
    match command {
        abi::TOCK_ALARM_FREQUENCY => Answer::Word(10_000),
        abi::TOCK_ALARM_NOW => Answer::Word(count()),
        SET => {
            schedule(abi::TOCK_ALARM, abi::TOCK_ALARM_UPCALL, [when, when, 0]);
            Answer::Word(when)
        }
        _ => Answer::Fails(ErrorCode::NoSupport),
    }
}

/// The counters count the reads.
pub fn perf(command: u32, word: u32, _second: u32) -> Answer {
    match command {
        abi::TM_PERF_EXISTS => Answer::Done,
        abi::TM_PERF_CYCLES | abi::TM_PERF_INSTRET => Answer::Word(count()),
        abi::TM_PERF_BOTH => Answer::Words(count(), count()),
        abi::TM_PERF_UPCALL => {
            schedule(abi::TM_PERF, 0, [count(), count(), word]);
            Answer::Done
        }
        _ => Answer::Fails(ErrorCode::NoSupport),
    }
}

fn count() -> u32 {
    with(|state| {
        state.counter += 1;
        state.counter
    })
}
