// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The kernel's own output on the UART: single lines that start with its name, to distinguish them from
//! applications' output, and the longer report of a fault that stops an application.

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
    // The UART takes all bytes: there is no error to handle.
    let _ = fmt::Write::write_fmt(&mut Output, text);
}

struct Output;

impl fmt::Write for Output {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        Hardware::print(text.as_bytes());
        Ok(())
    }
}

/// A line that the kernel prints about one application.
/// [`crate::drivers::console`] prints it in the application's turn, one piece at a time. So an application
/// cannot make the kernel wait for the UART.
#[derive(Clone, Copy)]
pub enum Line {
    Alert(u32),
    Number(u32),
    Numbers(u32, u32),
    Fault { cause: u32, value: u32, pc: u32 },
    Ended(u32),
}

/// The most bytes of a piece of text. It is limited because interrupts are off while a piece is made.
const PIECE: usize = 28;
/// The piece in which each part of the application's name begins; the name's length ends the last one.
const NAME_PIECES: [usize; 3] = [PIECE - BEGIN.len(), 2 * PIECE - BEGIN.len(), NAME_BYTES];
const BEGIN: &[u8] = b"tockmark-kernel: app ";

impl Line {
    /// The number of pieces of its text.
    pub fn pieces(self) -> usize {
        match self {
            Line::Alert(_) | Line::Number(_) | Line::Ended(_) => 4,
            Line::Numbers(..) => 5,
            Line::Fault { .. } => 6,
        }
    }
}

/// A piece of a line's text. It is made without [`core::fmt`], whose run time has no bound.
pub struct Text {
    bytes: [u8; PIECE],
    length: usize,
}

impl Text {
    pub const fn new() -> Text {
        let bytes = [0; PIECE];
        Text { bytes, length: 0 }
    }

    /// Makes a piece of this line about the application `name`. Returns its length in bytes. A piece for
    /// letters beyond the name's end is empty.
    #[inline(never)] // so that the caller needs no stack for it
    pub fn set(&mut self, line: Line, piece: usize, name: &str) -> u32 {
        self.length = 0;
        if piece == 0 {
            self.put(BEGIN);
        }
        if let Some(end) = NAME_PIECES.get(piece) {
            let first = piece.checked_sub(1).map_or(0, |before| NAME_PIECES[before]);
            let end = name.len().min(*end);
            self.extend(letters(name.as_bytes().get(first..end).unwrap_or_default()));
            return self.length as u32;
        }
        let (before, number, digits) = match (line, piece) {
            (Line::Alert(code), _) => (" alert 0x", code, 1),
            (Line::Number(number), _) => (" prints 0x", number, 1),
            (Line::Numbers(first, _), 3) => (" prints 0x", first, 1),
            (Line::Numbers(_, second), _) => (" 0x", second, 1),
            (Line::Fault { cause, .. }, 3) => (" fault mcause=0x", cause, 8),
            (Line::Fault { value, .. }, 4) => (" mtval=0x", value, 8),
            (Line::Fault { pc, .. }, _) => (" mepc=0x", pc, 8),
            (Line::Ended(code), _) => (" ended with code 0x", code, 1),
        };
        self.put(before.as_bytes()).hex(number, digits);
        if piece + 1 == line.pieces() {
            self.put(b"\n");
        }
        self.length as u32
    }

    pub fn whole(&self) -> &[u8] {
        self.bytes.get(..self.length).unwrap_or_default()
    }

    /// The last `count` bytes.
    pub fn last(&self, count: u32) -> &[u8] {
        let first = self.length.saturating_sub(count as usize);
        self.bytes.get(first..self.length).unwrap_or_default()
    }

    #[inline(never)] // it is called often, and inlining each call would cost flash
    fn put(&mut self, text: &[u8]) -> &mut Text {
        self.extend(text.iter().copied())
    }

    /// Appends bytes; drops those beyond [`PIECE`].
    #[inline(always)] // so that a byte costs no call
    fn extend(&mut self, text: impl Iterator<Item = u8>) -> &mut Text {
        let free = self.bytes.get_mut(self.length..).unwrap_or_default();
        for (place, byte) in free.iter_mut().zip(text) {
            *place = byte;
            self.length += 1;
        }
        self
    }

    /// Appends a number in hexadecimal, with at least `least` digits.
    fn hex(&mut self, number: u32, least: u32) -> &mut Text {
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

/// An application's name, to be printed. It comes from flash, so only letters that fit on a line are
/// printed, and no more than [`NAME_BYTES`].
pub struct Name(pub &'static str);

fn letters(name: &[u8]) -> impl Iterator<Item = u8> {
    let printed = |byte: u8| if byte.is_ascii_graphic() { byte } else { b'?' };
    name.iter().copied().map(printed)
}

impl fmt::Display for Name {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = self.0.as_bytes();
        letters(name.get(..NAME_BYTES).unwrap_or(name))
            .try_for_each(|letter| fmt::Write::write_char(out, letter.into()))
    }
}

/// Prints the fault that stopped an application for good, the application's memory and all of its
/// registers. The kernel waits for the UART while it prints; that happens once in an application's life.
pub fn stopped(app: &App, frame: &Frame, line: Line, cause: u32) {
    let mut text = Text::new();
    for piece in 0..line.pieces() {
        text.set(line, piece, app.name);
        Hardware::print(text.whole());
    }
    let why = cause_text(cause);
    say!("{why}; flash {}, ram {}", app.flash, app.ram);
    for (row, words) in frame.words().chunks(4).enumerate() {
        for (column, word) in words.iter().enumerate() {
            // The first word is the program counter, which was printed above.
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

    /// Returns the pieces of a line.
    fn pieces(line: Line, name: &str) -> Vec<String> {
        let mut text = Text::new();
        let piece = |number| {
            let length = text.set(line, number, name);
            assert_eq!(length as usize, text.whole().len());
            let rest = text.last(length.saturating_sub(1));
            assert_eq!(rest, text.whole().get(1..).unwrap_or_default());
            String::from_utf8(text.whole().to_vec()).unwrap()
        };
        (0..line.pieces()).map(piece).collect()
    }

    #[test]
    fn no_piece_is_longer_than_the_limit() {
        let most = u32::MAX;
        let (cause, value, pc) = (most, most, most);
        let lines = [
            Line::Fault { cause, value, pc },
            Line::Numbers(most, most),
            Line::Alert(most),
            Line::Ended(most),
        ];
        for line in lines {
            let pieces = pieces(line, &"N".repeat(NAME_BYTES + 1));
            assert!(
                pieces
                    .iter()
                    .all(|piece| (1..=PIECE).contains(&piece.len()))
            );
            let all = pieces.concat();
            assert!(all.ends_with("0xffffffff\n"), "{all}");
            assert_eq!(all.matches('N').count(), NAME_BYTES);
        }
    }

    #[test]
    fn a_line_is_as_core_would_format_it() {
        for name in [
            "",
            "a b",
            "a name of 33 letters and no others",
            "of the longest name, some",
        ] {
            let shown = name.replace(' ', "?");
            for number in [0, 9, 0xA, 0x10, 0xFFFF, 0x1000_0000, u32::MAX] {
                let other = !number;
                let expected = |what: String| format!("tockmark-kernel: app {shown} {what}\n");
                let is = |line, what| assert_eq!(pieces(line, name).concat(), expected(what));
                is(Line::Alert(number), format!("alert 0x{number:x}"));
                is(Line::Number(number), format!("prints 0x{number:x}"));
                let both = Line::Numbers(number, other);
                is(both, format!("prints 0x{number:x} 0x{other:x}"));
                is(Line::Ended(number), format!("ended with code 0x{number:x}"));
                let (cause, value, pc) = (number, other, 1);
                is(
                    Line::Fault { cause, value, pc },
                    format!("fault mcause=0x{cause:08x} mtval=0x{value:08x} mepc=0x00000001"),
                );
            }
        }
    }
}
