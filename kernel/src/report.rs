// SPDX-License-Identifier: Apache-2.0 OR MIT

//! What the kernel itself says on the UART: single lines that begin with its name, so that they can
//! be told from an application's output; and the longer report of a fault.

use crate::arch::{Hardware, Machine};
use crate::frame::Frame;
use crate::process::App;
use core::fmt;

/// Prints one line with the kernel's name before it.
#[macro_export]
macro_rules! say {
    ($($part:tt)*) => {
        $crate::report::line(format_args!($($part)*))
    };
}

pub fn line(text: fmt::Arguments<'_>) {
    write(format_args!("tockmark-kernel: {text}\n"));
}

fn write(text: fmt::Arguments<'_>) {
    // The UART takes all that it is given: there is no error to handle.
    let _ = fmt::Write::write_fmt(&mut Output, text);
}

struct Output;

impl fmt::Write for Output {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        Hardware::print(text);
        Ok(())
    }
}

/// An application's name comes from flash: only what can be printed on one line is, and no more of it
/// than [`LETTERS`].
pub struct Name(pub &'static str);

impl fmt::Display for Name {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        for letter in self.0.chars().take(LETTERS) {
            let printable = letter.is_ascii_graphic();
            fmt::Write::write_char(out, if printable { letter } else { '?' })?;
        }
        Ok(())
    }
}

/// A line that an application can cause is short: the kernel may wait for the UART meanwhile.
const LETTERS: usize = 32;

/// Says what an application did that it may not.
pub fn fault(app: &App, frame: &Frame, cause: u32, value: u32) {
    let (name, pc) = (Name(app.name), frame.pc());
    say!("app {name} fault mcause=0x{cause:08x} mtval=0x{value:08x} mepc=0x{pc:08x}");
}

/// Why that stopped the application for good, where it lay, and all of its registers.
pub fn stopped(app: &App, frame: &Frame, cause: u32) {
    let why = cause_text(cause);
    say!("{why}; flash {}, ram {}", app.flash, app.ram);
    for (row, words) in frame.words().chunks(4).enumerate() {
        for (column, word) in words.iter().enumerate() {
            // The first word is the program counter, which stands above.
            let number = 4 * row + column;
            if number > 0 {
                write(format_args!(" {:>3}=0x{word:08x}", REGISTERS[number]));
            }
        }
        write(format_args!("\n"));
    }
}

const REGISTERS: [&str; 32] = [
    "pc", "ra", "sp", "gp", "tp", "t0", "t1", "t2", "s0", "s1", "a0", "a1", "a2", "a3", "a4", "a5",
    "a6", "a7", "s2", "s3", "s4", "s5", "s6", "s7", "s8", "s9", "s10", "s11", "t3", "t4", "t5",
    "t6",
];

fn cause_text(cause: u32) -> &'static str {
    match cause {
        0 => "misaligned jump",
        1 => "fetched where it may not execute",
        2 => "illegal instruction",
        3 => "breakpoint",
        5 => "read where it may not",
        7 => "wrote where it may not",
        _ => "unknown exception",
    }
}
