// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Low-level debug, driver 0x8: prints a number or two without buffers or upcalls, for code that has
//! nothing else yet. The line is out, or in the UART's FIFO, when the command returns.
//!
//! | command | arguments | prints |
//! |---|---|---|
//! | 0 | - | nothing: the driver is there |
//! | 1 | code | an alert code (1: the application panicked, 2: it is at a wrong address) |
//! | 2 | number | the number |
//! | 3 | two numbers | both |

use super::Call;
use crate::abi::{ErrorCode, Return};
use crate::process::{Process, Processes};
use crate::report::Name;
use crate::say;

pub const NUMBER: u32 = 0x8;

pub fn command(call: Call, processes: &Processes) -> Return {
    let [first, second] = call.arguments;
    match call.number {
        0 => {}
        1..=3 => print(call.number, &processes[call.process], first, second),
        _ => return Return::Failure(ErrorCode::NoSupport),
    }
    Return::Success
}

/// Apart, so that commands to other drivers need no room on the stack for what is printed here.
#[inline(never)]
fn print(command: u32, process: &Process, first: u32, second: u32) {
    let name = Name(process.app.name);
    match command {
        1 => say!("app {name} alert 0x{first:x}"),
        2 => say!("app {name} prints 0x{first:x}"),
        _ => say!("app {name} prints 0x{first:x} 0x{second:x}"),
    }
}
