// SPDX-License-Identifier: Apache-2.0 OR MIT

//! IPC, driver 0x10000: processes find each other by name, share memory, and notify each other.
//! Numbers here are those of version 2; `v1.rs` translates those of version 1.
//!
//! | command | argument | reply | meaning |
//! |---|---|---|---|
//! | 0 | - | success | the driver is there |
//! | 1 | - | u32 | index of the process whose name is in read-only buffer 0; NODEVICE if none |
//! | 2 | index | success | notifies that process as a service: its upcall of its own index |
//! | 3 | index | success | notifies that process as a client: its upcall of the caller's index |
//!
//! A notification fails with INVAL if there is no such process, NODEVICE if it has ended, NOMEM if too
//! much waits for it already. Read-write buffer N is shared with process N. The upcall says who
//! notified, and length and address of what that process shares when the upcall runs, which the
//! receiver can then read and write; both are zero if it shares nothing, or a buffer whose address or
//! length is not a multiple of 4. [`crate::sharing`] says how long it can.
//!
//! Where Tock does otherwise: it passes an unaligned buffer on as if all were well, never closes one,
//! cannot wait for one of these upcalls by yield-wait-for, and may run later upcalls before them. As
//! there, who subscribes gets what was sent before, and who notifies itself gets nothing.

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

/// The process with this name, among some. No more of a buffer is read than a name can have ([`NAME_BYTES`]).
///
/// [`NAME_BYTES`]: crate::tbf::NAME_BYTES
pub fn find(
    name: UserBuffer,
    processes: &Processes,
    among: impl Fn(usize) -> bool,
) -> Option<usize> {
    let is_it = |(place, process): (usize, &Process)| {
        let own = process.app.name;
        own.len() == name.length() as usize && name.bytes_from(0).eq(own.bytes()) && among(place)
    };
    let found = processes.iter().enumerate().position(is_it);
    found.filter(|_| name.length() > 0)
}

/// Reports to process `target`, as its upcall `number`, that `sender` notifies it.
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
    // Length and address are found when the upcall is taken.
    let arguments = [sender as u32, 0, 0];
    let queued = process.notify(id, arguments);
    queued.map_err(|_| NOT_QUEUED)
}

/// Takes all back that a process which has ended had shared.
pub fn forget(owner: usize, processes: &mut Processes) {
    for process in processes {
        process.inbox.offer(owner, Region::EMPTY);
    }
}
