// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Low-level debug, driver 0x8: prints a number or two without buffers or upcalls, for early code. When the
//! command returns, the line is in the UART's FIFO: a process waits for its turn to send
//! ([`super::console`]).
//!
//! | command | arguments | prints |
//! |---|---|---|
//! | 0 | - | nothing: the driver exists |
//! | 1 | code | an alert code (1: the application panicked, 2: it is at a wrong address) |
//! | 2 | number | the number |
//! | 3 | two numbers | both |

use super::call::{Answer, Call, Then};
use super::console::Console;
use crate::abi::{ErrorCode, Return};
use crate::process::Processes;
use crate::report::Line;

pub use crate::slots::DEBUG as NUMBER;

pub fn command(call: Call, console: &mut Console, processes: &mut Processes) -> Answer {
    let [first, second] = call.arguments;
    let line = match call.number {
        0 => return (Return::Success, Then::Nothing),
        1 => Line::Alert(first),
        2 => Line::Number(first),
        3 => Line::Numbers(first, second),
        _ => return (Return::Failure(ErrorCode::NoSupport), Then::Nothing),
    };
    console.say(call.process, line, processes);
    (Return::Success, Then::Wait)
}
