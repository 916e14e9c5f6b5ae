// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Console, driver 0x1: writes an application's buffer to the UART.
//!
//! | command | arguments | reply | meaning |
//! |---|---|---|---|
//! | 0 | - | success | the driver is there |
//! | 1 | bytes | success | writes that much of read-only buffer 1; BUSY while a write is under way |
//!
//! Upcall 1 comes when the UART has sent the bytes: how many there were. Reading is not supported;
//! read-write buffer 1 can be allowed, as on Tock, but nothing is put there.
//!
//! Bytes go into the UART's FIFO a piece at a time, the next when the last has been sent; meanwhile
//! the application, and the core, can sleep. One process's write goes out at a time, so up to the
//! FIFO's 128 bytes no other process's write, and no line of the kernel's, comes between.

use super::Call;
use crate::abi::{ErrorCode, Return};
use crate::arch::{Hardware, Machine};
use crate::process::{MAX_PROCESSES, Processes};
use crate::upcall::UpcallId;

pub const NUMBER: u32 = 0x1;

const WRITTEN: UpcallId = UpcallId {
    driver: NUMBER,
    number: 1,
};

/// The slot of read-only buffer 1.
const BUFFER: usize = 0;

/// A write under way: how many bytes there are, and how many of them the UART has taken.
#[derive(Clone, Copy)]
struct Write {
    length: u32,
    taken: u32,
}

pub struct Console {
    writes: [Option<Write>; MAX_PROCESSES],
    /// Whose bytes are in the UART.
    sending: Option<usize>,
}

impl Console {
    pub const fn new() -> Console {
        Console {
            writes: [None; MAX_PROCESSES],
            sending: None,
        }
    }

    pub fn command(&mut self, call: Call, processes: &mut Processes) -> Return {
        match call.number {
            0 => Return::Success,
            1 => self.write(call, processes).into(),
            _ => Return::Failure(ErrorCode::NoSupport),
        }
    }

    fn write(&mut self, call: Call, processes: &mut Processes) -> Result<(), ErrorCode> {
        let write = &mut self.writes[call.process];
        if write.is_some() {
            return Err(ErrorCode::Busy);
        }
        let process = &mut processes[call.process];
        let length = process.read_only[BUFFER].length().min(call.arguments[0]);
        if length == 0 {
            return process.schedule(WRITTEN, [0; 3]);
        }
        *write = Some(Write { length, taken: 0 });
        if self.sending.is_none() {
            self.sending = Some(call.process);
            self.send(call.process, processes);
        }
        Ok(())
    }

    /// The UART has sent all that it had: goes on with this write, or ends it and takes the next.
    pub fn sent(&mut self, processes: &mut Processes) {
        let Some(process) = self.sending else {
            return;
        };
        if self.send(process, processes) {
            return;
        }
        if let Some(write) = self.writes[process].take() {
            // A process that never yields may lose this: its queue is full.
            let _ = processes[process].schedule(WRITTEN, [write.taken, 0, 0]);
        }
        // In turn, so that no process can keep the others from writing.
        let others = (1..MAX_PROCESSES).map(|step| (process + step) % MAX_PROCESSES);
        self.sending = others
            .into_iter()
            .find(|other| self.writes[*other].is_some());
        if let Some(next) = self.sending {
            self.send(next, processes);
        }
    }

    /// Gives the UART as much of a process's write as it has room for. False: nothing is left.
    fn send(&mut self, process: usize, processes: &Processes) -> bool {
        let Some(write) = &mut self.writes[process] else {
            return false;
        };
        // The buffer may have been taken back, or swapped for a shorter one, since.
        let buffer = processes[process].read_only[BUFFER];
        let left = write
            .length
            .min(buffer.length())
            .saturating_sub(write.taken);
        if left == 0 {
            return false;
        }
        let piece = left.min(Hardware::uart_room());
        for byte in buffer.bytes_from(write.taken).take(piece as usize) {
            Hardware::uart_put(byte);
        }
        write.taken += piece;
        true
    }

    /// Drops what a process that has ended had under way. What the UART has already is still sent.
    pub fn forget(&mut self, process: usize) {
        self.writes[process] = None;
    }
}

impl Default for Console {
    fn default() -> Console {
        Console::new()
    }
}
