// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The input of the console ([`super::console`]): reads the UART into an application's buffer.
//!
//! | command | arguments | reply | meaning |
//! |---|---|---|---|
//! | 2 | bytes | success | reads that many bytes into read-write buffer 1; BUSY during any process's read |
//! | 3 | - | success | ends this process's read; does nothing without one |
//!
//! Upcall 2 reports the end of a read: its status (0, or CANCEL after command 3), and how many bytes it got.
//! As on Tock, a read ends when all its bytes have come, and one process at a time reads. A read of no bytes
//! fails with SIZE. Version 1 calls the buffer 2.
//!
//! Bytes wait in the UART's FIFO until a read takes them; when it is full, further bytes are lost, and
//! nothing reports that. The UART interrupts when as many bytes wait as the read still needs, or when they
//! fill half of the FIFO. So a read takes few interrupts, and the kernel has time to serve them.

use super::call::Call;
use crate::abi::{CANCELLED, ErrorCode};
use crate::arch::{Hardware, Machine};
use crate::process::Processes;
use crate::slots::{CONSOLE, OwnUpcall};
use crate::umem;

const DONE: OwnUpcall = OwnUpcall::new(CONSOLE, 2);

/// The slot of read-write buffer 1.
const BUFFER: usize = 0;

/// A read in progress: whose it is, its length in bytes, and how many of them have come.
struct Read {
    process: usize,
    length: u32,
    taken: u32,
}

pub struct Input {
    read: Option<Read>,
}

impl Input {
    pub const fn new() -> Input {
        Input { read: None }
    }

    /// Serves commands 2 and 3.
    #[inline(always)]
    pub fn command(&mut self, call: Call, processes: &mut Processes) -> Result<(), ErrorCode> {
        match call.number {
            2 => self.start(call.process, call.arguments[0], processes),
            _ => self.cancel(call.process, processes),
        }
    }

    // These two are not inlined, so that other commands save no registers for them. They take no Call, which
    // would have to be in memory.
    #[inline(never)]
    fn cancel(&mut self, process: usize, processes: &mut Processes) -> Result<(), ErrorCode> {
        if let Some(read) = self.read.take_if(|read| read.process == process) {
            end(&read, CANCELLED, processes);
        }
        Ok(())
    }

    #[inline(never)]
    fn start(
        &mut self,
        process: usize,
        bytes: u32,
        processes: &mut Processes,
    ) -> Result<(), ErrorCode> {
        if self.read.is_some() {
            return Err(ErrorCode::Busy);
        }
        let buffer = processes[process].read_write[BUFFER];
        let length = buffer.length().min(bytes);
        if length == 0 {
            return Err(ErrorCode::Size);
        }
        self.read = Some(Read {
            process,
            length,
            taken: 0,
        });
        self.received(processes);
        Ok(())
    }

    /// Takes the bytes that have come, as far as a read wants them.
    pub fn received(&mut self, processes: &mut Processes) {
        let Some(read) = &mut self.read else {
            return;
        };
        let buffer = processes[read.process].read_write[BUFFER];
        // The process may have replaced the buffer by a shorter one.
        let length = read.length.min(buffer.length());
        loop {
            let left = length.saturating_sub(read.taken);
            for _ in 0..left.min(Hardware::uart_received()) {
                let address = buffer.address() + read.taken;
                umem::write_byte(address, Hardware::uart_get(), buffer.region());
                read.taken += 1;
            }
            let left = length.saturating_sub(read.taken);
            if left == 0 {
                end(read, 0, processes);
                self.read = None;
                return;
            }
            // More bytes may have come meanwhile.
            if Hardware::await_input(left) {
                return;
            }
        }
    }

    /// Drops the read of a process that has ended.
    pub fn forget(&mut self, process: usize) {
        if self.read.take_if(|read| read.process == process).is_some() {
            Hardware::ignore_input();
        }
    }
}

/// Reports the end of a read. The upcall may be lost if that of the last read still waits.
fn end(read: &Read, status: u32, processes: &mut Processes) {
    Hardware::ignore_input();
    let _ = processes[read.process].schedule(DONE, [status, read.taken, 0]);
}

impl Default for Input {
    fn default() -> Input {
        Input::new()
    }
}
