// SPDX-License-Identifier: Apache-2.0 OR MIT

//! An app that receives at one rate after the other: receiver.c in Rust.

#![no_std]
#![no_main]

use core::fmt::Write;
use core::sync::atomic::{AtomicBool, AtomicU8, AtomicU32, Ordering::Relaxed};

use suite::helper;
use suite::input::Line;
use tock::abi::{TOCK_CONSOLE, TOCK_CONSOLE_READ, TOCK_CONSOLE_READ_BUFFER};
use tock::{ErrorCode, Kernel, Syscalls, alarm, perf, runtime};

const BYTES: u32 = 768;
const MORE: u32 = 256;
const READ: u32 = 64;
const START_MS: u32 = 5;
const PACES: [u32; 10] = [2083, 1042, 640, 480, 320, 240, 200, 160, 120, 80];

static BUFFER: [AtomicU8; READ as usize] = [const { AtomicU8::new(0) }; READ as usize];
static OVER: AtomicBool = AtomicBool::new(false);
static COUNT: AtomicU32 = AtomicU32::new(0);

fn on_read(_status: u32, length: u32, _zero: u32) {
    COUNT.store(length, Relaxed);
    OVER.store(true, Relaxed);
}

/// Receives at this rate, and returns how many bytes were lost.
fn receive(pace: u32) -> Result<u32, ErrorCode> {
    let (mut came, mut next, mut lost) = (0, 0, 0);
    let mut line = Line::new();
    let _ = writeln!(line, "\x05{} {pace} 12000", BYTES + MORE);
    line.print()?;
    let begun = perf::cycles();
    while next < BYTES + if lost > 0 { 0 } else { MORE } {
        OVER.store(false, Relaxed);
        Kernel::command(TOCK_CONSOLE, TOCK_CONSOLE_READ, READ, 0).check()?;
        while !OVER.load(Relaxed) {
            Kernel::yield_wait();
        }
        let count = COUNT.load(Relaxed);
        for byte in BUFFER.iter().take(count as usize) {
            let missing = u32::from(byte.load(Relaxed)).wrapping_sub(next) & 0xff;
            lost += missing;
            next += missing + 1;
        }
        came += count;
    }
    let awake = perf::cycles().wrapping_sub(begun);
    let mut line = Line::new();
    let _ = writeln!(line, "receive {pace} {came} {lost} {awake}");
    line.print()?;
    Ok(lost)
}

fn run() -> Result<(), ErrorCode> {
    alarm::nap(START_MS)?;
    Kernel::allow_rw_static(TOCK_CONSOLE, TOCK_CONSOLE_READ_BUFFER, &BUFFER)?;
    Kernel::subscribe_static(TOCK_CONSOLE, TOCK_CONSOLE_READ, &on_read)?;
    for pace in PACES.into_iter().skip(runtime::link().scene as usize) {
        if receive(pace)? > 0 {
            break;
        }
    }
    let mut line = Line::new();
    let _ = writeln!(line, "receive done");
    line.print()
}

fn receiver() -> i32 {
    run().err().map_or(0, |error| error as i32)
}

helper!(receiver);
