// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Low-level debug, driver 0x8: prints a number or two without buffers or upcalls, for code that has
//! nothing else yet. The line is in the UART's FIFO when the command returns: a process waits until it is
//! its turn to send ([`super::console`]).
//!
//! | command | arguments | prints |
//! |---|---|---|
//! | 0 | - | nothing: the driver is there |
//! | 1 | code | an alert code (1: the application panicked, 2: it is at a wrong address) |
//! | 2 | number | the number |
//! | 3 | two numbers | both |

use super::call::{Answer, Call, Then};
use super::console::Console;
use crate::abi::{ErrorCode, Return};
use crate::process::{Process, Processes};
use crate::report::Name;
use crate::say;

pub use crate::slots::DEBUG as NUMBER;

/// What a command prints.
#[derive(Clone, Copy)]
pub struct Line {
    command: u32,
    arguments: [u32; 2],
}

pub fn command(call: Call, console: &mut Console, processes: &mut Processes) -> Answer {
    match call.number {
        0 => (Return::Success, Then::Nothing),
        1..=3 => {
            let line = Line {
                command: call.number,
                arguments: call.arguments,
            };
            console.print(call.process, line, processes);
            (Return::Success, Then::Wait)
        }
        _ => (Return::Failure(ErrorCode::NoSupport), Then::Nothing),
    }
}

impl Line {
    /// Apart, so that what comes before needs no room on the stack for what is printed here.
    #[inline(never)]
    pub fn print(self, process: &Process) {
        let name = Name(process.app.name);
        let [first, second] = self.arguments;
        match self.command {
            1 => say!("app {name} alert 0x{first:x}"),
            2 => say!("app {name} prints 0x{first:x}"),
            _ => say!("app {name} prints 0x{first:x} 0x{second:x}"),
        }
    }
}
