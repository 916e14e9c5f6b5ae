// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Registries, drivers 0xA0000 (by a string) and 0xA0001 (by the name of an application's package): a
//! service registers, and other processes find it. They get its id, for [`super::relay`]. Version 2 only.
//!
//! | command | reply | meaning |
//! |---|---|---|
//! | 0 | success | the driver exists |
//! | 1 | success | registers the caller; upcall 0 follows: (0, 0, 0) |
//! | 2 | success | finds another process that has registered; upcall 1 follows: (0, id, 0), or (NODEVICE, 0, 0) |
//!
//! Read-only buffer 0 has the name. A string has exactly 20 bytes, else SIZE, and not all of them are zero,
//! else INVAL. By package, command 1 needs no name. A string can belong to one process only (ALREADY); a
//! process's second string replaces its first. NOMEM: the upcall of such a command still waits, next
//! to others, and nothing is done.
//!
//! Difference from Tock: on Tock the upcall is lost if it does not fit into the queue.

use super::call::Call;
use super::ipc;
use crate::abi::{ErrorCode, Return};
use crate::process::Processes;
use crate::slots::{MAX_PROCESSES, OwnUpcall, PACKAGE, STRING};
use crate::umem::UserBuffer;

pub use crate::slots::{BY_PACKAGE, BY_STRING};

const STRING_REGISTERED: OwnUpcall = OwnUpcall::new(BY_STRING, 0);
const STRING_FOUND: OwnUpcall = OwnUpcall::new(BY_STRING, 1);
const PACKAGE_REGISTERED: OwnUpcall = OwnUpcall::new(BY_PACKAGE, 0);
const PACKAGE_FOUND: OwnUpcall = OwnUpcall::new(BY_PACKAGE, 1);

/// The bytes of a string.
const STRING_BYTES: usize = 20;

type Text = [u8; STRING_BYTES];

/// The value for "no string".
const NONE: Text = [0; STRING_BYTES];

pub struct Registry {
    strings: [Text; MAX_PROCESSES],
    packages: [bool; MAX_PROCESSES],
}

impl Registry {
    pub const fn new() -> Registry {
        Registry {
            strings: [NONE; MAX_PROCESSES],
            packages: [false; MAX_PROCESSES],
        }
    }

    pub fn command(&mut self, driver: u32, call: Call, processes: &mut Processes) -> Return {
        let by_string = driver == BY_STRING;
        let done = match call.number {
            0 => Ok(()),
            1 if by_string => self.register_string(call.process, processes),
            1 => self.register_package(call.process, processes),
            2 if by_string => self.find_string(call.process, processes),
            2 => self.find_package(call.process, processes),
            _ => Err(ErrorCode::NoSupport),
        };
        done.into()
    }

    /// Drops the registrations of a process that has ended.
    pub fn forget(&mut self, process: usize) {
        self.strings[process] = NONE;
        self.packages[process] = false;
    }

    fn register_string(
        &mut self,
        caller: usize,
        processes: &mut Processes,
    ) -> Result<(), ErrorCode> {
        let string = text(processes[caller].read_only[STRING])?;
        if self.owner(&string, caller).is_some() {
            return Err(ErrorCode::Already);
        }
        processes[caller].schedule(STRING_REGISTERED, [0; 3])?;
        self.strings[caller] = string;
        Ok(())
    }

    fn register_package(
        &mut self,
        caller: usize,
        processes: &mut Processes,
    ) -> Result<(), ErrorCode> {
        processes[caller].schedule(PACKAGE_REGISTERED, [0; 3])?;
        self.packages[caller] = true;
        Ok(())
    }

    fn find_string(&self, caller: usize, processes: &mut Processes) -> Result<(), ErrorCode> {
        let string = text(processes[caller].read_only[STRING])?;
        let service = self.owner(&string, caller);
        discovered(STRING_FOUND, caller, service, processes)
    }

    fn find_package(&self, caller: usize, processes: &mut Processes) -> Result<(), ErrorCode> {
        let name = processes[caller].read_only[PACKAGE];
        let others = |index| index != caller && self.packages[index];
        let service = ipc::find(name, processes, others);
        discovered(PACKAGE_FOUND, caller, service, processes)
    }

    /// Returns another process that has registered with this string.
    fn owner(&self, string: &Text, caller: usize) -> Option<usize> {
        let is_it = |index: &usize| *index != caller && self.strings[*index] == *string;
        (0..MAX_PROCESSES).find(is_it)
    }
}

impl Default for Registry {
    fn default() -> Registry {
        Registry::new()
    }
}

fn text(buffer: UserBuffer) -> Result<Text, ErrorCode> {
    if buffer.length() as usize != STRING_BYTES {
        return Err(ErrorCode::Size);
    }
    let mut text = NONE;
    for (place, byte) in text.iter_mut().zip(buffer.bytes_from(0)) {
        *place = byte;
    }
    if text == NONE {
        return Err(ErrorCode::Invalid);
    }
    Ok(text)
}

fn discovered(
    upcall: OwnUpcall,
    caller: usize,
    found: Option<usize>,
    processes: &mut Processes,
) -> Result<(), ErrorCode> {
    let arguments = match found {
        Some(index) => [0, processes[index].id(index), 0],
        None => [ErrorCode::NoDevice as u32, 0, 0],
    };
    processes[caller].schedule(upcall, arguments)
}
