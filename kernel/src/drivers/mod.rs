// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The system-call drivers, and where a process keeps what it has given to each.
//!
//! A driver is one file with its command table on top. All commands have one signature: who calls
//! with what ([`Call`]), and the processes, to look into the caller's buffers and to report events.

pub mod alarm;
pub mod console;
pub mod debug;
pub mod ipc;
pub mod perf;

use crate::abi::ErrorCode;
use crate::process::MAX_PROCESSES;
use crate::upcall::UpcallId;

/// A command to a driver.
#[derive(Clone, Copy)]
pub struct Call {
    /// Index of the calling process.
    pub process: usize,
    pub number: u32,
    pub arguments: [u32; 2],
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

/// Why there is no such slot.
fn absent(driver: u32) -> ErrorCode {
    match driver {
        alarm::NUMBER | console::NUMBER | debug::NUMBER | ipc::NUMBER | perf::NUMBER => {
            ErrorCode::NoSupport
        }
        _ => ErrorCode::NoDevice,
    }
}
