// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Console, driver 0x1: writes an application's buffer to the UART.
//!
//! | command | arguments | reply | meaning |
//! |---|---|---|---|
//! | 0 | - | success | the driver exists |
//! | 1 | bytes | success | writes that many bytes of read-only buffer 1; BUSY during another write |
//!
//! Upcall 1 reports that the UART has sent the bytes, and how many. Commands 2 and 3 read:
//! [`super::input`].
//!
//! Bytes go into the UART's FIFO in pieces; when a piece has been sent the next one follows. Meanwhile the
//! application and the core can sleep. Processes take turns. In its turn a process sends up to [`TURN`] bytes
//! of its write, or one line that the kernel prints about it ([`Line`]), piece by piece. Then the next
//! waiting process has its turn. So between two turns of a waiting process, each other process has at most
//! one turn, even if it prints, takes its buffer back, faults or restarts. The end of a write is reported as
//! soon as its last byte has been sent, and takes no turn. The writes and prints of one process appear in
//! the order of its calls.

use super::call::Call;
use super::input::Input;
use crate::abi::{ErrorCode, Return};
use crate::arch::{Hardware, Machine};
use crate::process::{Process, Processes, State};
use crate::report::{Line, Text};
use crate::slots::{MAX_PROCESSES, OwnUpcall};
use crate::umem::UserBuffer;

pub use crate::slots::CONSOLE as NUMBER;

const WRITTEN: OwnUpcall = OwnUpcall::new(NUMBER, 1);

/// The slot of read-only buffer 1.
const BUFFER: usize = 0;

/// How many bytes of a write are sent in one turn: a line of tockmark's protocol, so that no line is torn,
/// and about as long as a line of the kernel. The limit also holds when no other process waits: interrupts
/// are off while bytes go into the UART, and more bytes would keep them off longer.
const TURN: u32 = 64;

/// A write in progress: its length in bytes, and how many of them the UART has accepted.
#[derive(Clone, Copy)]
struct Write {
    length: u32,
    taken: u32,
}

/// The process whose bytes are in the UART.
#[derive(Clone, Copy)]
struct Turn {
    process: usize,
    /// The kernel's line about it, and how many pieces were made of it. None: the bytes are of its write.
    line: Option<(Line, usize)>,
    /// The number of bytes that the UART may still get in this turn, or of this piece.
    left: u32,
}

pub struct Console {
    writes: [Option<Write>; MAX_PROCESSES],
    /// The kernel's lines about processes. Each waits for the process's turn.
    lines: [Option<Line>; MAX_PROCESSES],
    /// None: the UART has sent all bytes, and no process waits.
    turn: Option<Turn>,
    /// The current piece of this turn's line.
    text: Text,
    pub input: Input,
}

impl Console {
    pub const fn new() -> Console {
        Console {
            writes: [None; MAX_PROCESSES],
            lines: [None; MAX_PROCESSES],
            turn: None,
            text: Text::new(),
            input: Input::new(),
        }
    }

    pub fn command(&mut self, call: Call, processes: &mut Processes) -> Return {
        match call.number {
            0 => Return::Success,
            1 => self.write(call, processes).into(),
            2 | 3 => self.input.command(call, processes).into(),
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
            return end_empty(process);
        }
        *write = Some(Write { length, taken: 0 });
        self.start(call.process, processes);
        Ok(())
    }

    /// Queues a line about this process, to be printed in its turn. The process waits until then, if it has
    /// not ended.
    #[inline(never)]
    pub fn say(&mut self, process: usize, line: Line, processes: &mut Processes) {
        let state = &mut processes[process].state;
        if *state == State::Ready {
            *state = State::Printing;
        }
        self.lines[process] = Some(line);
        self.start(process, processes);
    }

    /// Starts this process's turn if no other process is sending.
    fn start(&mut self, process: usize, processes: &mut Processes) {
        if self.turn.is_none() {
            self.begin(process, processes);
        }
    }

    /// Continues after the UART has sent all bytes: with this turn, or with the next process's.
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

    /// Reports the writes that have ended: all bytes were sent, or the buffer was taken back.
    fn report_ends(&mut self, processes: &mut Processes) {
        for index in 0..MAX_PROCESSES {
            if let Some(write) = self.writes[index]
                && self.left(index, processes) == 0
            {
                // It may be lost if the upcall of the last write still waits.
                let _ = processes[index].schedule(WRITTEN, [write.taken, 0, 0]);
                self.writes[index] = None;
            }
        }
    }

    /// Does this process have anything to send?
    fn waits(&self, process: usize, processes: &Processes) -> bool {
        self.lines[process].is_some() || self.left(process, processes) > 0
    }

    /// Starts the turn of this process, which has bytes to send.
    fn begin(&mut self, process: usize, processes: &mut Processes) {
        let bytes = self.left(process, processes);
        let line = self.lines[process].filter(|_| bytes == 0);
        // No piece of a line has been made yet.
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

    /// Gives the UART as many bytes of this turn as it has room for.
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
            // A turn continues only if the UART's FIFO is smaller than the turn.
            turn.left = if piece == room { turn.left - piece } else { 0 };
        }
        self.turn = Some(turn);
    }

    /// Returns the number of bytes that remain of a process's write.
    fn left(&self, process: usize, processes: &Processes) -> u32 {
        let buffer = processes[process].read_only[BUFFER];
        self.writes[process].map_or(0, |write| write.left(buffer))
    }

    /// Drops the write, the read and the line of a process that has ended. Bytes in the UART are still sent.
    pub fn forget(&mut self, process: usize) {
        self.input.forget(process);
        self.writes[process] = None;
        self.lines[process] = None;
    }
}

/// Reports the end of a write of no bytes.
#[inline(never)] // so that other writes save no registers for it
fn end_empty(process: &mut Process) -> Result<(), ErrorCode> {
    process.schedule(WRITTEN, [0; 3])
}

/// Makes the line's next piece that is not empty, and returns its length in bytes. Pieces for letters
/// beyond the name's end are empty.
#[inline(never)] // so that writes save no registers for it
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
    /// How many bytes the UART has yet to accept. The process may meanwhile have taken the buffer back, or
    /// replaced it by a shorter one.
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
