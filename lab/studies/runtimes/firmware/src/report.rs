// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Records of the UART protocol (docs/contributing.md), and the rows of samples.

use crate::{Reading, options, read, stack, tm_mark_arm, tm_mark_null, uart};

const LINE: usize = 64;
const TRAILER: usize = 7; // " *", four digits and the newline
const MOST_SAMPLES: usize = 25;
const APP: &str = "cost";

/// A row's way of taking samples: the words of its `bench` record.
pub const BY_READING: &str = "by=reading";
/// From the timer's interrupt to its handler, by the simulator's clock.
pub const TO_HANDLER: &str = "clock=sim from=irq to=handler";
/// From the timer's interrupt to the task.
pub const TO_TASK: &str = "clock=sim from=irq to=task";

/// A word of a record.
struct Word {
    text: [u8; 40],
    length: usize,
}

impl Word {
    fn new() -> Self {
        let text = [0; 40];
        Self { text, length: 0 }
    }

    fn byte(mut self, byte: u8) -> Self {
        self.text[self.length] = byte;
        self.length += 1;
        self
    }

    fn text(self, text: &str) -> Self {
        text.bytes().fold(self, Self::byte)
    }

    fn number(self, value: u32) -> Self {
        let more = if value >= 10 {
            self.number(value / 10)
        } else {
            self
        };
        more.byte(b'0' + (value % 10) as u8)
    }

    fn hexadecimal(self, value: u32, digits: u32) -> Self {
        let digit = |place: u32| b"0123456789abcdef"[(value >> (4 * place) & 0xf) as usize];
        (0..digits)
            .rev()
            .fold(self, |word, place| word.byte(digit(place)))
    }
}

/// The log of this boot.
pub struct Report {
    lines: u32,
    line: [u8; LINE],
    used: usize,
}

impl Report {
    /// Begins the log, with the overhead of the readings.
    pub fn begin() -> Self {
        let mut report = Self {
            lines: 0,
            line: [0; LINE],
            used: 0,
        };
        let boot = options().boot.iter().take_while(|byte| **byte != 0);
        report.start("begin proto=1 lang=rust abi=2 apps=1 csr=machine");
        report.word(boot.fold(Word::new().text("boot="), |word, byte| word.byte(*byte)));
        report.image();
        report.words("cc=\"rustc");
        report.word(
            Word::new()
                .text("-Copt-level=")
                .text(env!("TOCKMARK_LEVEL")),
        );
        report.words("-Clto=fat\"");
        report.finish();
        report.readings("time.read", "");
        report.readings("time.reading", BY_READING);
        report
    }

    /// Ends the log, and the boot.
    pub fn end(mut self) -> ! {
        self.readings("null.sample", "");
        self.readings("null.reading", BY_READING);
        let null = self.row("null.mark", "", "clock=sim from=null to=null_end", 1);
        for _ in 0..null.wanted {
            tm_mark_arm();
            tm_mark_null();
        }
        self.put(&null, true);
        self.start("end ok");
        self.image();
        self.finish();
        loop {
            crate::sleep();
        }
    }

    /// A row of two readings with nothing in between.
    fn readings(&mut self, id: &'static str, how: &'static str) {
        let mut row = self.row(id, "", how, MOST_SAMPLES as u32);
        for _ in 0..row.wanted {
            let from = read();
            row.push(from, read());
        }
        self.put(&row, true);
    }

    /// A new row, without samples.
    pub fn row(
        &mut self,
        id: &'static str,
        params: &'static str,
        how: &'static str,
        samples: u32,
    ) -> Row {
        let most = match options().most_samples {
            0 => MOST_SAMPLES as u32,
            most => most.min(MOST_SAMPLES as u32),
        };
        let (wanted, taken) = (samples.min(most), 0);
        Row {
            id,
            params,
            how,
            wanted,
            taken,
            samples: [(0, 0); MOST_SAMPLES],
        }
    }

    /// Writes a row, or that it failed.
    pub fn put(&mut self, row: &Row, is_right: bool) {
        let samples = &row.samples[..row.taken];
        if row.id.starts_with(APP) && row.how == BY_READING {
            self.start("stack");
            self.named(row);
            self.word(Word::new().text("bytes=").number(stack::deepest()));
            self.finish();
        }
        self.start(if is_right { "bench" } else { "fail" });
        self.named(row);
        if is_right {
            self.words("inner=1");
            self.word(Word::new().text("n=").number(row.wanted));
            self.words(row.how);
        } else {
            self.words("call=answer err=WRONG_RESULT");
        }
        self.finish();
        if is_right && row.taken > 0 {
            self.start("data cycles");
            samples
                .iter()
                .for_each(|sample| self.word(Word::new().number(sample.0)));
            self.words("instret");
            samples
                .iter()
                .for_each(|sample| self.word(Word::new().number(sample.1)));
            self.words(".");
            self.finish();
        }
    }

    /// Writes that a row has no equal here: `reason="..."`.
    pub fn skip(&mut self, id: &str, params: &str, reason: &str) {
        self.start("skip");
        self.words(id);
        self.words(params);
        self.words(reason);
        self.finish();
    }

    fn named(&mut self, row: &Row) {
        self.words(row.id);
        self.words(row.params);
    }

    fn image(&mut self) {
        self.word(Word::new().text("image=").hexadecimal(options().image, 8));
    }

    fn start(&mut self, words: &str) {
        self.head();
        self.words(words);
    }

    fn head(&mut self) {
        let head = Word::new()
            .text("#tm ")
            .number(self.lines)
            .text(" ")
            .text(APP);
        self.used = 0;
        self.append(&head.text[..head.length]);
        self.lines += 1;
    }

    fn append(&mut self, bytes: &[u8]) {
        self.line[self.used..][..bytes.len()].copy_from_slice(bytes);
        self.used += bytes.len();
    }

    fn words(&mut self, words: &str) {
        for word in words.split(' ').filter(|word| !word.is_empty()) {
            self.word(Word::new().text(word));
        }
    }

    fn word(&mut self, word: Word) {
        if self.used + 1 + word.length + TRAILER > LINE {
            self.finish();
            self.head();
            self.append(b" +");
        }
        self.append(b" ");
        self.append(&word.text[..word.length]);
    }

    fn finish(&mut self) {
        self.append(b" ");
        let sum = self.line[..self.used].iter().fold(0xffff, crc);
        let end = Word::new().text("*").hexadecimal(sum, 4).text("\n");
        self.append(&end.text[..end.length]);
        uart::print(&self.line[..self.used]);
    }
}

/// CRC-16/CCITT-FALSE.
fn crc(sum: u32, byte: &u8) -> u32 {
    (0..8).fold(sum ^ u32::from(*byte) << 8, |sum, _| {
        (sum << 1 ^ if sum & 0x8000 == 0 { 0 } else { 0x1021 }) & 0xffff
    })
}

/// A row and its samples.
pub struct Row {
    id: &'static str,
    params: &'static str,
    how: &'static str,
    /// The number of samples.
    pub wanted: u32,
    taken: usize,
    samples: [(u32, u32); MOST_SAMPLES],
}

impl Row {
    /// Adds a sample.
    #[inline(always)]
    pub fn push(&mut self, from: Reading, to: Reading) {
        let sample = (
            to.cycles.wrapping_sub(from.cycles),
            to.instret.wrapping_sub(from.instret),
        );
        self.samples[self.taken] = sample;
        self.taken += 1;
    }
}
