// SPDX-License-Identifier: Apache-2.0 OR MIT

//! What the kernel itself says on the UART: single lines that begin with its name, so that they can
//! be told from an application's output; and the longer report of a fault that stops one.

use crate::arch::{Hardware, Machine};
use crate::frame::Frame;
use crate::process::App;
use crate::tbf::NAME_BYTES;
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
        Hardware::print(text.as_bytes());
        Ok(())
    }
}

/// What the kernel says of one application in one line. [`crate::drivers::console`] says it when it is the
/// application's turn, a piece at a time: so the kernel never waits for the UART where an application can
/// make it.
#[derive(Clone, Copy)]
pub enum Line {
    Alert(u32),
    Number(u32),
    Numbers(u32, u32),
    Fault { cause: u32, value: u32, pc: u32 },
    Ended(u32),
}

/// The longest line has so many bytes: that of a fault.
const LONGEST: usize = 79 + NAME_BYTES;

/// A line's text. It is made without [`core::fmt`], whose steps nothing bounds.
pub struct Text {
    bytes: [u8; LONGEST],
    length: usize,
}

impl Text {
    pub const fn new() -> Text {
        let bytes = [0; LONGEST];
        Text { bytes, length: 0 }
    }

    /// Makes the text of this line about the application with this name. Returns how many bytes it has.
    #[inline(never)] // so that what comes before needs no room on the stack for it
    pub fn set(&mut self, line: Line, name: &str) -> u32 {
        self.length = 0;
        self.put(b"tockmark-kernel: app ");
        self.extend(letters(name));
        match line {
            Line::Alert(code) => self.put(b" alert ").hex(code, 1),
            Line::Number(number) => self.put(b" prints ").hex(number, 1),
            Line::Numbers(first, second) => {
                self.put(b" prints ").hex(first, 1).put(b" ").hex(second, 1)
            }
            Line::Fault { cause, value, pc } => {
                self.put(b" fault mcause=").hex(cause, 8);
                self.put(b" mtval=").hex(value, 8);
                self.put(b" mepc=").hex(pc, 8)
            }
            Line::Ended(code) => self.put(b" ended with code ").hex(code, 1),
        };
        self.put(b"\n");
        self.length as u32
    }

    pub fn whole(&self) -> &[u8] {
        self.bytes.get(..self.length).unwrap_or_default()
    }

    /// Its last `count` bytes.
    pub fn last(&self, count: u32) -> &[u8] {
        let first = self.length.saturating_sub(count as usize);
        self.bytes.get(first..self.length).unwrap_or_default()
    }

    #[inline(never)] // there are many pieces, and none is worth room in flash
    fn put(&mut self, text: &[u8]) -> &mut Text {
        self.extend(text.iter().copied())
    }

    /// What would go beyond [`LONGEST`] is left out.
    #[inline(always)] // so that a byte costs no call
    fn extend(&mut self, text: impl Iterator<Item = u8>) -> &mut Text {
        let free = self.bytes.get_mut(self.length..).unwrap_or_default();
        for (place, byte) in free.iter_mut().zip(text) {
            *place = byte;
            self.length += 1;
        }
        self
    }

    /// A number with at least so many digits.
    #[inline(never)]
    fn hex(&mut self, number: u32, least: u32) -> &mut Text {
        self.put(b"0x");
        let digits = (8 - number.leading_zeros() / 4).max(least);
        let values = (0..digits).rev().map(|digit| number >> (4 * digit) & 0xF);
        self.extend(values.map(|value| b"0123456789abcdef"[value as usize]))
    }
}

impl Default for Text {
    fn default() -> Text {
        Text::new()
    }
}

/// An application's name comes from flash: only what can be printed on one line is, and no more of it
/// than a name that is taken has.
pub struct Name(pub &'static str);

fn letters(name: &str) -> impl Iterator<Item = u8> {
    let bytes = name.bytes().take(NAME_BYTES);
    bytes.map(|byte| if byte.is_ascii_graphic() { byte } else { b'?' })
}

impl fmt::Display for Name {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        letters(self.0).try_for_each(|letter| fmt::Write::write_char(out, letter.into()))
    }
}

/// Says what an application did that it may not, why that stopped it for good, where it lay, and all of
/// its registers. The kernel waits for the UART meanwhile: once in an application's life.
pub fn stopped(app: &App, frame: &Frame, line: Line, cause: u32) {
    let mut text = Text::new();
    text.set(line, app.name);
    Hardware::print(text.whole());
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_line_is_as_long_as_is_said() {
        let (cause, value, pc) = (u32::MAX, 0, 7);
        let longest = Line::Fault { cause, value, pc };
        let name = "n".repeat(NAME_BYTES + 1);
        let mut text = Text::new();
        assert_eq!(text.set(longest, &name) as usize, LONGEST);
        let others = [
            Line::Numbers(u32::MAX, u32::MAX),
            Line::Alert(u32::MAX),
            Line::Ended(u32::MAX),
        ];
        for line in others {
            assert!((text.set(line, &name) as usize) < LONGEST);
            assert!(text.whole().ends_with(b"0xffffffff\n"));
        }
    }

    #[test]
    fn a_line_is_as_core_would_format_it() {
        let mut text = Text::new();
        let numbers = [0, 9, 0xA, 0x10, 0xFFFF, 0x1000_0000, u32::MAX];
        for number in numbers {
            text.set(Line::Numbers(number, !number), "a b");
            let other = !number;
            let said = format!("tockmark-kernel: app a?b prints 0x{number:x} 0x{other:x}\n");
            assert_eq!(text.whole(), said.as_bytes());
            assert_eq!(text.last(4), &said.as_bytes()[said.len() - 4..]);
            let (cause, value, pc) = (number, other, 1);
            text.set(Line::Fault { cause, value, pc }, "");
            let said = format!(
                "tockmark-kernel: app  fault mcause=0x{cause:08x} mtval=0x{value:08x} mepc=0x00000001\n"
            );
            assert_eq!(text.whole(), said.as_bytes());
        }
    }
}
