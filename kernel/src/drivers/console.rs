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
//! of its write, or one line that the kernel says for it ([`Line`]), which goes out in
//! the pieces that its text is made in; then it is the
//! turn of the next process that waits. So between two turns of one that waits each other has at most one,
//! whatever it does: prints, takes its buffer back, faults, begins anew. That a write is done is reported
//! as soon as its last byte is sent, and takes no turn. What one process writes and prints goes out in the
//! order of its calls.

use super::call::Call;
use crate::abi::{ErrorCode, Return, UpcallId};
use crate::arch::{Hardware, Machine};
use crate::process::{Processes, State};
use crate::report::{Line, Text};
use crate::slots::MAX_PROCESSES;
use crate::umem::UserBuffer;

pub use crate::slots::CONSOLE as NUMBER;

const WRITTEN: UpcallId = UpcallId {
    driver: NUMBER,
    number: 1,
};

/// The slot of read-only buffer 1.
const BUFFER: usize = 0;

/// How many bytes of a write go out before it is another process's turn: a line of tockmark's protocol, so
/// that none is torn, and about what a line of the kernel's own takes. No more at once where nobody waits:
/// to give the UART as many takes most of the time that interrupts are off for it.
const TURN: u32 = 64;

/// A write under way: how many bytes there are, and how many of them the UART has taken.
#[derive(Clone, Copy)]
struct Write {
    length: u32,
    taken: u32,
}

/// Whose bytes are in the UART.
#[derive(Clone, Copy)]
struct Turn {
    process: usize,
    /// They are of the kernel's line for it, of which so many pieces are made. None: of its write.
    line: Option<(Line, usize)>,
    /// How many more it may give the UART in this turn, or of this piece.
    left: u32,
}

pub struct Console {
    writes: [Option<Write>; MAX_PROCESSES],
    /// What the kernel has to say for processes; each of them waits for its turn.
    lines: [Option<Line>; MAX_PROCESSES],
    /// None: the UART has sent all that it had, and nobody waits.
    turn: Option<Turn>,
    /// A piece of this turn's line.
    text: Text,
}

impl Console {
    pub const fn new() -> Console {
        Console {
            writes: [None; MAX_PROCESSES],
            lines: [None; MAX_PROCESSES],
            turn: None,
            text: Text::new(),
        }
    }

    pub fn command(&mut self, call: Call, processes: &mut Processes) -> Return {
        match call.number {
            0 => Return::Success,
            1 => self.write(call, processes).into(),
            _ => Return::Failure(ErrorCode::NoSupport),
        }
    }

    #[inline(never)] // so that other commands save no registers for it
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

    /// Says a line for this process when it is its turn. Until then the process, if it has not ended, waits.
    #[inline(never)]
    pub fn say(&mut self, process: usize, line: Line, processes: &mut Processes) {
        let state = &mut processes[process].state;
        if *state == State::Ready {
            *state = State::Printing;
        }
        self.lines[process] = Some(line);
        self.start(process, processes);
    }

    /// A process has something to send. If nobody is sending, it is its turn.
    fn start(&mut self, process: usize, processes: &mut Processes) {
        if self.turn.is_none() {
            self.begin(process, processes);
        }
    }

    /// The UART has sent all that it had: whose turn is it?
    pub fn sent(&mut self, processes: &mut Processes) {
        let Some(turn) = self.turn.take() else {
            return;
        };
        self.report_ends(processes);
        let goes_on = match turn.line {
            Some((line, made)) => turn.left > 0 || made < line.pieces(),
            None => turn.left > 0 && self.left(turn.process, processes) > 0,
        };
        if goes_on {
            self.send(turn, processes);
            return;
        }
        let first = turn.process + 1;
        let mut turns = (first..first + MAX_PROCESSES).map(|turn| turn % MAX_PROCESSES);
        if let Some(next) = turns.find(|process| self.waits(*process, processes)) {
            self.begin(next, processes);
        }
    }

    /// Reports the writes of which nothing is left: all has been sent, or the buffer was taken back.
    fn report_ends(&mut self, processes: &mut Processes) {
        for index in 0..MAX_PROCESSES {
            if let Some(write) = self.writes[index]
                && self.left(index, processes) == 0
            {
                // A process that never yields may lose this: its queue is full.
                let _ = processes[index].schedule(WRITTEN, [write.taken, 0, 0]);
                self.writes[index] = None;
            }
        }
    }

    /// Has this process something to send?
    fn waits(&self, process: usize, processes: &Processes) -> bool {
        self.lines[process].is_some() || self.left(process, processes) > 0
    }

    /// It is this process's turn, which has something to send.
    fn begin(&mut self, process: usize, processes: &mut Processes) {
        let bytes = self.left(process, processes);
        let line = self.lines[process].filter(|_| bytes == 0);
        // Of a line no piece is made yet.
        let left = if line.is_some() { 0 } else { TURN };
        let line = line.map(|line| (line, 0));
        self.send(
            Turn {
                process,
                line,
                left,
            },
            processes,
        );
    }

    /// Gives the UART what it has room for in this turn.
    fn send(&mut self, mut turn: Turn, processes: &mut Processes) {
        let process = &mut processes[turn.process];
        let room = Hardware::uart_room();
        if let Some((line, made)) = &mut turn.line {
            if turn.left == 0 {
                turn.left = make_piece(&mut self.text, *line, made, process.app.name);
            }
            let piece = turn.left.min(room);
            let bytes = self.text.last(turn.left).iter().take(piece as usize);
            bytes.copied().for_each(Hardware::uart_put);
            turn.left -= piece;
            if turn.left == 0 && *made == line.pieces() {
                self.lines[turn.process] = None;
                if process.state == State::Printing {
                    process.state = State::Ready;
                }
            }
        } else if let Some(write) = &mut self.writes[turn.process] {
            let buffer = process.read_only[BUFFER];
            let left = write.left(buffer);
            let piece = left.min(turn.left).min(room);
            let bytes = buffer.bytes_from(write.taken).take(piece as usize);
            bytes.for_each(Hardware::uart_put);
            write.taken += piece;
            // A turn goes on only where the UART is smaller than it.
            turn.left = if piece == room { turn.left - piece } else { 0 };
        }
        self.turn = Some(turn);
    }

    /// What is left of a process's write.
    fn left(&self, process: usize, processes: &Processes) -> u32 {
        let buffer = processes[process].read_only[BUFFER];
        self.writes[process].map_or(0, |write| write.left(buffer))
    }

    /// Drops what a process that has ended had under way. What the UART has already is still sent.
    pub fn forget(&mut self, process: usize) {
        self.writes[process] = None;
        self.lines[process] = None;
    }
}

/// Makes the next piece of a line that has bytes: those with letters that the name lacks have none.
/// Returns how many.
#[inline(never)] // writes need no registers for it
fn make_piece(text: &mut Text, line: Line, made: &mut usize, name: &str) -> u32 {
    loop {
        let length = text.set(line, *made, name);
        *made += 1;
        if length > 0 {
            return length;
        }
    }
}

impl Write {
    /// How many bytes the UART has yet to take. The buffer may have been taken back, or swapped for a
    /// shorter one, since.
    fn left(self, buffer: UserBuffer) -> u32 {
        let length = self.length.min(buffer.length());
        length.saturating_sub(self.taken)
    }
}

impl Default for Console {
    fn default() -> Console {
        Console::new()
    }
}
