// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The system-call drivers, and where a process keeps what it has given to each.
//!
//! A driver is one file with its command table on top. A command is told who calls with what
//! ([`Call`]), and given the processes, to look into the caller's buffers and to report events. Its
//! answer says what follows from it besides the result ([`Then`]), and functions here say what follows
//! from an upcall or a buffer. Whoever asks acts on that and need not know drivers by number; only
//! the versions of the interface do, for what they number or do differently.

pub mod alarm;
pub mod console;
pub mod debug;
pub mod ipc;
pub mod perf;

use crate::abi::{ErrorCode, Return};
use crate::kernel::Kernel;
use crate::process::{MAX_PROCESSES, Processes};
use crate::syscall::Next;
use crate::upcall::UpcallId;
use alarm::Alarm;
use console::Console;

/// A command to a driver.
#[derive(Clone, Copy)]
pub struct Call {
    /// Index of the calling process.
    pub process: usize,
    pub number: u32,
    pub arguments: [u32; 2],
}

/// What follows from a command.
#[derive(Clone, Copy)]
pub enum Then {
    /// Nothing: the caller goes on.
    Nothing,
    /// The next alarm may be another one: the timer is set to it.
    SetTimer,
    /// Another process may be ready now, and run before the caller.
    MakeRoom,
    /// The caller may have to wait before it goes on.
    Wait,
}

/// What a driver answers to a command: the caller's result, and what follows.
pub type Answer = (Return, Then);

/// The drivers that keep something of their own between calls.
pub struct Drivers {
    pub alarm: Alarm,
    pub console: Console,
}

impl Drivers {
    pub const fn new() -> Drivers {
        Drivers {
            alarm: Alarm::new(),
            console: Console::new(),
        }
    }

    /// Drops what a process that has ended had under way.
    pub fn forget(&mut self, process: usize, processes: &mut Processes) {
        self.console.forget(process);
        self.alarm.forget(process);
        ipc::forget(process, processes);
    }
}

impl Default for Drivers {
    fn default() -> Drivers {
        Drivers::new()
    }
}

impl Kernel {
    /// A command to a driver. Each driver's answer is dealt with where it is given: what
    /// follows from it is then known, and costs nothing to find out.
    #[inline]
    pub fn command(&mut self, driver: u32, call: Call) -> Next {
        let (drivers, processes) = (&mut self.drivers, &mut self.processes);
        match driver {
            alarm::NUMBER => {
                let answer = drivers.alarm.command(call);
                self.follow(answer)
            }
            console::NUMBER => {
                let result = drivers.console.command(call, processes);
                self.give(result)
            }
            debug::NUMBER => {
                let answer = debug::command(call, &mut drivers.console, processes);
                self.follow(answer)
            }
            ipc::NUMBER => {
                let answer = ipc::command(call, processes);
                self.follow(answer)
            }
            perf::NUMBER => {
                let result = perf::command(call, processes);
                self.give(result)
            }
            _ => self.fail(ErrorCode::NoDevice),
        }
    }
}

pub const SUBSCRIPTION_SLOTS: usize = 3 + MAX_PROCESSES;
pub const READ_ONLY_SLOTS: usize = 2;
pub const READ_WRITE_SLOTS: usize = 1 + MAX_PROCESSES;

/// Where a process keeps the subscription to this upcall.
pub fn subscription_slot(id: UpcallId) -> Result<usize, ErrorCode> {
    match (id.driver, id.number) {
        (alarm::NUMBER, 0) => Ok(0),
        (console::NUMBER, 1) => Ok(1),
        (perf::NUMBER, 0) => Ok(2),
        (ipc::NUMBER, process) if process < MAX_PROCESSES as u32 => Ok(3 + process as usize),
        (driver, _) => Err(absent(driver)),
    }
}

/// Does another process send this upcall? Then it brings what that one shares; and subscribing keeps
/// those that came before, or a service that starts late would miss its first client.
pub fn is_from_process(id: UpcallId) -> bool {
    id.driver == ipc::NUMBER
}

/// Where a process keeps this read-only buffer.
pub fn read_only_slot(driver: u32, number: u32) -> Result<usize, ErrorCode> {
    match (driver, number) {
        (console::NUMBER, 1) => Ok(0),
        (ipc::NUMBER, 0) => Ok(1),
        (driver, _) => Err(absent(driver)),
    }
}

/// Where a process keeps this read-write buffer.
pub fn read_write_slot(driver: u32, number: u32) -> Result<usize, ErrorCode> {
    match (driver, number) {
        (console::NUMBER, 1) => Ok(0),
        (ipc::NUMBER, process) if process < MAX_PROCESSES as u32 => Ok(1 + process as usize),
        (driver, _) => Err(absent(driver)),
    }
}

/// The process with which a read-write buffer in this slot is shared.
pub fn shared_with(slot: usize) -> Option<usize> {
    slot.checked_sub(1)
}

/// Why there is no such slot.
fn absent(driver: u32) -> ErrorCode {
    match driver {
        alarm::NUMBER | console::NUMBER | debug::NUMBER | ipc::NUMBER | perf::NUMBER => {
            ErrorCode::NoSupport
        }
        _ => ErrorCode::NoDevice,
    }
}
