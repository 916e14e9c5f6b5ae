// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The app console: the cost of a console write, up to its completion upcall, and of a read. It writes blanks
//! and a newline, which readers of the protocol treat as an empty message.

#![no_std]
#![no_main]

use core::sync::atomic::{AtomicU8, AtomicU32, Ordering::Relaxed};

use suite::rows::{self, console_write};
use suite::{app, benches_console, bodies, input, reading};
use tock::abi::{TOCK_CONSOLE, TOCK_CONSOLE_WRITE};
use tock::runtime::{self, Outcome, Run, Write};
use tock::{bench, console};

const MOST: usize = console_write::size::MAX as usize;

static WRITE: Write = Write {
    upcalls: AtomicU32::new(0),
    length: AtomicU32::new(0),
};
// Blanks and a newline; a sample writes the last bytes of them. In RAM, which version 1 requires.
static TEXT: [AtomicU8; MOST] = [const { AtomicU8::new(b' ') }; MOST];

fn setup(run: &mut Run) -> Outcome {
    WRITE.length.store(run.value(0), Relaxed);
    let counted = runtime::count_upcalls(TOCK_CONSOLE, TOCK_CONSOLE_WRITE, &WRITE.upcalls);
    run.require(c"subscribe", counted)?;
    run.measure(bodies::tm_console_write_and_wait, &WRITE)
}

/// In version 1 a console may keep a buffer for one write only.
fn before(run: &mut Run) -> Outcome {
    TEXT[MOST - 1].store(b'\n', Relaxed);
    let text = &TEXT[MOST - run.value(0) as usize..];
    run.require(c"allow_ro", console::allow_static(text))
}

fn finish(_run: &mut Run) -> Outcome {
    console::take_back();
    Ok(())
}

fn before_read(run: &mut Run) -> Outcome {
    input::ask(run, run.value(0), 0)
}

fn sample_read(run: &mut Run) -> Outcome {
    let bytes = run.value(0);
    let begun = reading::take(input::use_counter(run.counter()));
    let started = input::start(bytes);
    run.require(c"read", started)?;
    let ended = input::wait();
    run.put_sample(begun, ended);
    input::came(run, 0, bytes)
}

bench!(console_write, expect: 1, setup: setup, before: before, finish: finish);
bench!(console_read, setup: input::setup, before: before_read, sample: sample_read, finish: input::finish);
app!(c"console", benches_console!());
