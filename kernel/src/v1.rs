// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Version 1 of the system-call interface (Tock 1.x): decodes an `ecall` and puts its result into
//! registers. [`crate::syscall`] carries out the calls, for both versions.
//!
//! The class is in a0, the arguments in a1 to a4. A result is one signed word in a0, negative for an
//! error; a1 to a3 are not changed. There is one allow, whose buffers are in RAM; one yield, which waits;
//! and no exit. Subscribe and allow do not return what they replace. Allowing a null address takes the
//! buffer back.
//!
//! Drivers have the same numbers as in version 2, except Perf. The console's buffer for reads is allow 2. IPC has no commands of its own: process
//! numbers start at 1, allow 0 finds the process with a name, allow N shares with process N, subscribe 0
//! registers a service and subscribe N a client of process N, and command N notifies process N: as a
//! service if its argument is 0, else as a client.

use crate::abi::{ErrorCode, FIRST_PROCESS, Return, UpcallId};
use crate::arch::{Hardware, Machine};
use crate::drivers::{alarm, console, ipc};
use crate::kernel::Kernel;
use crate::process::Subscription;
use crate::syscall::Next;
use crate::umem::UserBuffer;

/// The class of system call, in register a0 of an `ecall`.
pub mod class {
    pub const YIELD: u32 = 0;
    pub const SUBSCRIBE: u32 = 1;
    pub const COMMAND: u32 = 2;
    pub const ALLOW: u32 = 3;
    pub const MEMOP: u32 = 4;
}

impl Return {
    /// The word for register a0. No command of this version returns more than one word.
    #[inline(always)]
    pub const fn word(self) -> u32 {
        match self {
            Return::Failure(error)
            | Return::FailureU32(error, ..)
            | Return::FailurePair(error, ..)
            | Return::FailureU64(error, ..) => (error as u32).wrapping_neg(),
            Return::Success => 0,
            Return::U32(value) => value,
            Return::Pair(..) | Return::Triple(..) | Return::U64(..) | Return::U32AndU64(..) => {
                (ErrorCode::NoSupport as u32).wrapping_neg()
            }
        }
    }
}

impl Kernel {
    /// Carries out a system call of the current process.
    #[inline(always)]
    pub fn system_call(&mut self, [class, a, b, c, d]: [u32; 5]) -> Next {
        self.frame().set_result([0, a, b, c]);
        match class {
            class::YIELD => self.yield_wait(),
            class::SUBSCRIBE => self.class_subscribe(a, b, c, d),
            class::COMMAND => self.class_command(a, b, c, d),
            class::ALLOW => self.class_allow(a, b, c, d),
            class::MEMOP => self.memop(a, b),
            _ => self.fail(ErrorCode::NoSupport),
        }
    }

    #[inline(never)]
    fn class_subscribe(&mut self, driver: u32, number: u32, function: u32, data: u32) -> Next {
        let number = match (driver, number) {
            (ipc::NUMBER, 0) => self.current as u32,
            (ipc::NUMBER, process) => match self.other_process(process) {
                Some(process) => process,
                None => return self.fail(ErrorCode::Invalid),
            },
            (_, number) => number,
        };
        let new = Subscription {
            function,
            userdata: data,
        };
        let result = self.process().subscribe(UpcallId { driver, number }, new);
        self.give(result.map(|_| ()).into())
    }

    #[inline(never)]
    fn class_command(&mut self, driver: u32, number: u32, first: u32, second: u32) -> Next {
        let call = match (driver, number) {
            (ipc::NUMBER, process) => {
                let command = if first == 0 { 2 } else { 3 };
                self.command_call(command, [process.wrapping_sub(FIRST_PROCESS), 0])
            }
            (alarm::NUMBER, 0) => return self.give(Return::U32(1)),
            // The old way to set an alarm: by the time at which it is due.
            (alarm::NUMBER, 4) => {
                let now = Hardware::now() as u32;
                self.command_call(6, [now, first.wrapping_sub(now)])
            }
            _ => self.command_call(number, [first, second]),
        };
        self.command(driver, call)
    }

    #[inline(never)]
    fn class_allow(&mut self, driver: u32, number: u32, address: u32, length: u32) -> Next {
        let length = if address == 0 { 0 } else { length };
        let buffer = UserBuffer::new(address, length, &[self.process().ram()]);
        let result = match (driver, number) {
            (ipc::NUMBER, 0) => return self.discover(buffer),
            (ipc::NUMBER, process) => match self.other_process(process) {
                Some(process) => self.read_write_allow(driver, process, buffer),
                None => Err(ErrorCode::Invalid),
            },
            (console::NUMBER, 2) => self.read_write_allow(driver, 1, buffer),
            _ => self.read_only_allow(driver, number, buffer),
        };
        self.give(result.map(|_| ()).into())
    }

    /// Returns the number of the process with this name.
    fn discover(&mut self, name: Option<UserBuffer>) -> Next {
        let index = name.and_then(|name| ipc::find(name, &self.processes, |_| true));
        match index {
            Some(index) => self.give(Return::U32(index as u32 + FIRST_PROCESS)),
            None => self.fail(ErrorCode::Invalid),
        }
    }

    /// Returns the index of a process, given the number that applications use for it.
    fn other_process(&self, number: u32) -> Option<u32> {
        let index = number.checked_sub(FIRST_PROCESS)?;
        let process = self.processes.get(index as usize)?;
        process.exists().then_some(index)
    }

    /// Puts a result into the current process's registers.
    #[inline(always)]
    pub fn give(&mut self, result: Return) -> Next {
        self.frame().set_value(result.word());
        Next::Same
    }
}
