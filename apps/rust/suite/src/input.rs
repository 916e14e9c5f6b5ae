// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Reads of the console, for the groups console and awake. The other end of the line sends bytes when a line
//! of output asks for them: 0, 1, 2 and so on. apps/c/input.h is the same in C.

use core::fmt::{self, Write};
use core::sync::atomic::{AtomicBool, AtomicU8, AtomicU32, Ordering::Relaxed};

use tock::abi::{TOCK_ALARM, TOCK_ALARM_STOP, TOCK_CONSOLE, TOCK_CONSOLE_CANCEL};
use tock::abi::{TOCK_CONSOLE_READ, TOCK_CONSOLE_READ_BUFFER};
use tock::runtime::{Outcome, Run};
use tock::{ErrorCode, Kernel, Syscalls, alarm, console};

use crate::reading::{self, Reading};
use crate::rows::console_read::size;

/// Cycles until the first byte: by then the read has begun and the core sleeps.
const DELAY: u32 = 12_000;
const PATIENCE_MS: u32 = 50;

static BYTES: [AtomicU8; size::MAX as usize] = [const { AtomicU8::new(0) }; size::MAX as usize];
static OVER: AtomicBool = AtomicBool::new(false); // the last read
static END: [AtomicU32; 4] = [const { AtomicU32::new(0) }; 4]; // its status, its bytes, its time
static COUNTER: AtomicU32 = AtomicU32::new(0); // version 1: the counter that is being measured

/// Sets the counter to read, in version 1, and returns it.
pub fn use_counter(counter: u32) -> u32 {
    COUNTER.store(counter, Relaxed);
    counter
}

/// Returns the counter that is being measured.
pub fn counter() -> u32 {
    COUNTER.load(Relaxed)
}

/// The upcall of a read.
fn on_end(status: u32, bytes: u32, _zero: u32) {
    let now = reading::take(counter());
    for (place, word) in END.iter().zip([status, bytes, now[0], now[1]]) {
        place.store(word, Relaxed);
    }
    OVER.store(true, Relaxed);
}

/// A short text, to be written at once.
pub struct Line {
    text: [u8; 64],
    length: usize,
}

impl Line {
    /// Returns an empty line.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            text: [0; 64],
            length: 0,
        }
    }

    /// Prints the line and waits until it has been sent.
    ///
    /// # Errors
    ///
    /// The kernel's.
    pub fn print(&self) -> Result<(), ErrorCode> {
        console::write(&self.text[..self.length])
    }
}

impl Default for Line {
    fn default() -> Self {
        Self::new()
    }
}

impl Write for Line {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let end = self.length + text.len();
        let place = self.text.get_mut(self.length..end).ok_or(fmt::Error)?;
        place.copy_from_slice(text.as_bytes());
        self.length = end;
        Ok(())
    }
}

/// Asks for bytes, one each `pace` cycles (0: as fast as the UART is set), after a while.
pub fn ask(run: &mut Run, count: u32, pace: u32) -> Outcome {
    let mut line = Line::new();
    let fits = writeln!(line, "\x05{count} {pace} {DELAY}").map_err(|_| ErrorCode::Size);
    let written = fits.and_then(|()| line.print());
    run.require(c"console_write", written)
}

/// Starts a read.
#[inline(always)]
pub fn start(bytes: u32) -> Result<(), ErrorCode> {
    OVER.store(false, Relaxed);
    Kernel::command(TOCK_CONSOLE, TOCK_CONSOLE_READ, bytes, 0).check()
}

/// Sleeps until the read is over, and returns when its upcall ran.
#[inline(always)]
pub fn wait() -> Reading {
    while !OVER.load(Relaxed) {
        Kernel::yield_wait();
    }
    [END[2].load(Relaxed), END[3].load(Relaxed)]
}

/// Checks that these are the bytes that were asked for, from the one with the number `first`.
pub fn came(run: &mut Run, first: u32, count: u32) -> Outcome {
    let values = (first..first + count).zip(&BYTES);
    let mut good = END[0].load(Relaxed) == 0 && END[1].load(Relaxed) == count;
    for (value, byte) in values {
        good &= u32::from(byte.load(Relaxed)) == value;
    }
    run.verify(good)
}

/// Finds out, once, whether a byte comes that was asked for.
fn comes(run: &mut Run) -> Outcome {
    static TRIED: AtomicBool = AtomicBool::new(false);
    static COMES: AtomicBool = AtomicBool::new(false);
    static LATE: AtomicBool = AtomicBool::new(false);
    if !TRIED.load(Relaxed) {
        TRIED.store(true, Relaxed);
        ask(run, 1, 0)?;
        if start(1).is_err() {
            return run.skip(c"this console does not read");
        }
        let frequency = run.require(c"alarm", alarm::frequency())?;
        run.require(c"alarm", alarm::subscribe_static(&LATE))?;
        run.require(c"alarm", alarm::after(frequency / 1000 * PATIENCE_MS))?;
        while !OVER.load(Relaxed) && !LATE.load(Relaxed) {
            Kernel::yield_wait();
        }
        let _ = Kernel::command(TOCK_ALARM, TOCK_ALARM_STOP, 0, 0);
        alarm::unsubscribe();
        COMES.store(OVER.load(Relaxed), Relaxed);
        if OVER.load(Relaxed) {
            return came(run, 0, 1);
        }
        let _ = Kernel::command(TOCK_CONSOLE, TOCK_CONSOLE_CANCEL, 0, 0);
    }
    match COMES.load(Relaxed) {
        true => Ok(()),
        false => run.skip(c"nothing sends to this console"),
    }
}

/// Gives the console a buffer and an upcall for reads.
pub fn setup(run: &mut Run) -> Outcome {
    let allowed = Kernel::allow_rw_static(TOCK_CONSOLE, TOCK_CONSOLE_READ_BUFFER, &BYTES);
    run.require(c"allow_rw", allowed)?;
    let subscribed = Kernel::subscribe_static(TOCK_CONSOLE, TOCK_CONSOLE_READ, &on_end);
    run.require(c"subscribe", subscribed)?;
    comes(run)
}

/// Takes both back.
pub fn finish(_run: &mut Run) -> Outcome {
    Kernel::unsubscribe(TOCK_CONSOLE, TOCK_CONSOLE_READ);
    Kernel::unallow_rw(TOCK_CONSOLE, TOCK_CONSOLE_READ_BUFFER);
    Ok(())
}
