// SPDX-License-Identifier: Apache-2.0 OR MIT

//! IPC, driver 0x10000: processes find each other by name, share memory, and notify each other. The numbers
//! here belong to version 2; `v1.rs` translates the numbers of version 1.
//!
//! | command | argument | reply | meaning |
//! |---|---|---|---|
//! | 0 | - | success | the driver exists |
//! | 1 | - | u32 | index of the process whose name is in read-only buffer 0; NODEVICE if there is none |
//! | 2 | index | success | notifies that process as a service: its upcall of its own index |
//! | 3 | index | success | notifies that process as a client: its upcall of the caller's index |
//!
//! A notification fails with INVAL if there is no such process, NODEVICE if it has ended, and NOMEM if too
//! many upcalls wait for it. Read-write buffer N is shared with process N. The upcall's arguments are the
//! sender's index, and the length and address of the buffer that the sender shares when the upcall runs. The
//! receiver can then read and write that buffer. Both are zero if the sender shares nothing, or a buffer
//! whose address or length is not a multiple of 4. [`crate::sharing`] describes how long access lasts.
//!
//! Differences from Tock: Tock passes an unaligned buffer on without an error, never closes a buffer, cannot
//! wait for one of these upcalls with yield-wait-for, and may run later upcalls before them. As on Tock, a
//! process that subscribes gets earlier notifications, and a process that notifies itself gets nothing.

use super::call::{Answer, Call, Then};
use crate::abi::{ErrorCode, NOT_QUEUED, Return, UpcallId};
use crate::process::{Process, Processes, State};
use crate::region::Region;
use crate::umem::UserBuffer;

pub use crate::slots::IPC as NUMBER;

/// The slot of read-only buffer 0.
const NAME: usize = 1;

pub fn command(call: Call, processes: &mut Processes) -> Answer {
    let target = call.arguments[0];
    let result = match call.number {
        0 => Return::Success,
        1 => match find(processes[call.process].read_only[NAME], processes, |_| true) {
            Some(index) => Return::U32(index as u32),
            None => Return::Failure(ErrorCode::NoDevice),
        },
        2 | 3 => {
            let own = call.number == 3;
            let number = if own { call.process as u32 } else { target };
            let notified = notify(call.process, target, number, processes);
            return (notified.into(), Then::MakeRoom);
        }
        _ => Return::Failure(ErrorCode::NoSupport),
    };
    (result, Then::Nothing)
}

/// Returns the process with this name, if `among` accepts it. Reads at most [`NAME_BYTES`] of the buffer.
///
/// [`NAME_BYTES`]: crate::tbf::NAME_BYTES
pub fn find(
    name: UserBuffer,
    processes: &Processes,
    among: impl Fn(usize) -> bool,
) -> Option<usize> {
    let is_it = |(index, process): (usize, &Process)| {
        let own = process.app.name;
        own.len() == name.length() as usize && name.bytes_from(0).eq(own.bytes()) && among(index)
    };
    let index = processes.iter().enumerate().position(is_it);
    index.filter(|_| name.length() > 0)
}

/// Queues upcall `number` of process `target`, from `sender`.
pub fn notify(
    sender: usize,
    target: u32,
    number: u32,
    processes: &mut Processes,
) -> Result<(), ErrorCode> {
    let process = processes.get_mut(target as usize);
    let process = process.filter(|process| process.exists());
    let process = process.ok_or(ErrorCode::Invalid)?;
    if process.state == State::Stopped {
        return Err(ErrorCode::NoDevice);
    }
    if target as usize == sender {
        return Ok(());
    }
    let id = UpcallId {
        driver: NUMBER,
        number,
    };
    // Length and address are looked up when the upcall is taken.
    let arguments = [sender as u32, 0, 0];
    let queued = process.notify(id, arguments);
    queued.map_err(|_| NOT_QUEUED)
}

/// Takes back all buffers of a process that has ended.
pub fn forget(owner: usize, processes: &mut Processes) {
    for process in processes {
        process.inbox.offer(owner, Region::EMPTY);
    }
}
