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
//! Bytes go into the UART's FIFO a piece at a time, the next when all has been sent; meanwhile the
//! application, and the core, can sleep. Processes take turns: in one a process sends up to [`TURN`] bytes
//! of its write, or its line of the low-level debug ([`super::debug`]). So each has its share of the UART,
//! whatever the others send, and so much of a write goes out in one piece.

use super::call::Call;
use super::debug::Line;
use crate::abi::{ErrorCode, Return, UpcallId};
use crate::arch::{Hardware, Machine};
use crate::process::{Processes, State};
use crate::slots::MAX_PROCESSES;

pub use crate::slots::CONSOLE as NUMBER;

const WRITTEN: UpcallId = UpcallId {
    driver: NUMBER,
    number: 1,
};

/// The slot of read-only buffer 1.
const BUFFER: usize = 0;

/// How many bytes of a write go out before it is another process's turn.
const TURN: u32 = 128;

/// A write under way: how many bytes there are, and how many of them the UART has taken.
#[derive(Clone, Copy)]
struct Write {
    length: u32,
    taken: u32,
}

pub struct Console {
    writes: [Option<Write>; MAX_PROCESSES],
    /// What processes have to print without a buffer; each of them waits for its turn.
    lines: [Option<Line>; MAX_PROCESSES],
    /// Whose bytes are in the UART: there are some, so it will say that it has sent them.
    sending: Option<usize>,
}

impl Console {
    pub const fn new() -> Console {
        Console {
            writes: [None; MAX_PROCESSES],
            lines: [None; MAX_PROCESSES],
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
        self.start(call.process, processes);
        Ok(())
    }

    /// Prints a line of this process when it is its turn. Until then the process waits.
    #[inline(never)] // so that commands to other drivers save no registers for it
    pub fn print(&mut self, process: usize, line: Line, processes: &mut Processes) {
        processes[process].state = State::Printing;
        self.lines[process] = Some(line);
        self.start(process, processes);
    }

    /// A process has something to send. If nobody is sending, it is its turn.
    fn start(&mut self, process: usize, processes: &mut Processes) {
        if self.sending.is_none() && self.send(process, processes) {
            self.sending = Some(process);
        }
    }

    /// The UART has sent all that it had: whose turn is it?
    ///
    /// Each process is asked once: a process that was to send and cannot any more, since its buffer was
    /// taken back, ends its write and makes room for the next one.
    pub fn sent(&mut self, processes: &mut Processes) {
        let Some(last) = self.sending.take() else {
            return;
        };
        let first = match self.writes[last] {
            Some(write) if self.left(last, processes) == 0 || write.taken % TURN > 0 => last,
            _ => last + 1,
        };
        let turns = (first..first + MAX_PROCESSES).map(|turn| turn % MAX_PROCESSES);
        self.sending = turns
            .into_iter()
            .find(|process| self.send(*process, processes));
    }

    /// Gives the UART something of this process. False: it has nothing.
    fn send(&mut self, process: usize, processes: &mut Processes) -> bool {
        if let Some(line) = self.lines[process].take() {
            line.print(&processes[process]);
            processes[process].state = State::Ready;
            return true;
        }
        let left = self.left(process, processes);
        let Some(write) = &mut self.writes[process] else {
            return false;
        };
        if left == 0 {
            // A process that never yields may lose this: its queue is full.
            let _ = processes[process].schedule(WRITTEN, [write.taken, 0, 0]);
            self.writes[process] = None;
            return false;
        }
        let turn = TURN - write.taken % TURN;
        let piece = left.min(turn).min(Hardware::uart_room());
        let buffer = processes[process].read_only[BUFFER];
        for byte in buffer.bytes_from(write.taken).take(piece as usize) {
            Hardware::uart_put(byte);
        }
        write.taken += piece;
        true
    }

    /// What is left of a process's write. Its buffer may have been taken back, or swapped for a shorter
    /// one, since.
    fn left(&self, process: usize, processes: &Processes) -> u32 {
        let buffer = processes[process].read_only[BUFFER];
        self.writes[process].map_or(0, |write| {
            let length = write.length.min(buffer.length());
            length.saturating_sub(write.taken)
        })
    }

    /// Drops what a process that has ended had under way. What the UART has already is still sent.
    pub fn forget(&mut self, process: usize) {
        self.writes[process] = None;
        self.lines[process] = None;
    }
}

impl Default for Console {
    fn default() -> Console {
        Console::new()
    }
}
