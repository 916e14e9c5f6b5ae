// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The app ipc2: the cost of the newer IPC, in which the kernel copies a client's request and a server's
//! response. This app is the client of ipc2_server.rs; orders.rs has their protocol, and apps/c/ipc2_client.c
//! explains the order of the apps in flash.

#![no_std]
#![no_main]

use suite::{app, benches_ipc2, rows};
#[cfg(feature = "abi-v1")]
use tock::bench;

#[cfg(not(feature = "abi-v1"))]
mod client {
    use core::sync::atomic::{AtomicBool, AtomicU32, Ordering::Relaxed};

    use suite::orders::{
        Message, OBEYED, RIVALS, SERVER_PACKAGE, SERVER_STRING, WORDS, message, note, order, score,
        sum_of, task,
    };
    use suite::reading;
    use suite::rows::{ipc2_discover, ipc2_register};
    use tock::relay::{self, Process, Registry};
    use tock::runtime::{Asm, Body, Outcome, Run, Stage, Words};
    use tock::{ErrorCode, alarm};

    const TRIES: u32 = 40; // to find another app, one millisecond each
    pub const SET_SIZE: u32 = 64;
    const PASSED: u32 = 0x5eed;

    static OUT: Message<WORDS> = message();
    static IN: Message<WORDS> = message();
    static ORDER: Message<{ order::WORDS }> = message();
    static GO: Message<2> = message();
    static SERVER: Message<2> = message(); // its id
    static FIRST: Message<2> = message(); // the rivals' ids
    static SECOND: Message<2> = message();
    static CONNECTED: AtomicBool = AtomicBool::new(false);
    static STARTED: AtomicBool = AtomicBool::new(false);
    static SEQ: AtomicU32 = AtomicU32::new(0);

    fn came(at: usize) -> u32 {
        IN[at].load(Relaxed)
    }

    fn keep(place: &Message<2>, process: Process) {
        place[0].store(process.low, Relaxed);
        place[1].store(process.high, Relaxed);
    }

    fn kept(place: &Message<2>) -> Process {
        let [low, high] = [place[0].load(Relaxed), place[1].load(Relaxed)];
        Process { low, high }
    }

    fn find(run: &mut Run, registry: Registry, name: &'static [u8], place: &Message<2>) -> Outcome {
        run.require(c"registry_discover", registry.name(name))?;
        let mut process = registry.find();
        for _ in 0..TRIES {
            if process.is_ok() {
                break;
            }
            run.require(c"nap", alarm::nap(1))?;
            process = registry.find();
        }
        keep(place, run.require(c"registry_discover", process)?);
        Ok(())
    }

    /// Connects, once, when the server has had time to register.
    pub fn connect(run: &mut Run) -> Outcome {
        if !CONNECTED.load(Relaxed) {
            find(run, Registry::String, SERVER_STRING, &SERVER)?;
            CONNECTED.store(true, Relaxed);
        }
        Ok(())
    }

    fn buffers(run: &mut Run, out: &'static [AtomicU32], room: u32) -> Outcome {
        run.require(c"relay_out", relay::out(out))?;
        run.require(c"relay_in", relay::room(&IN[..room as usize / 4]))
    }

    /// Checks that the response came completely, with this many bytes.
    fn check(run: &mut Run, response: Result<u32, ErrorCode>, length: u32) -> Outcome {
        if run.require(c"relay_answer", response)? == length {
            Ok(())
        } else {
            run.fail(c"relay_answer", c"WRONG_LENGTH")
        }
    }

    fn ask(run: &mut Run, of: Process, length: u32) -> Outcome {
        run.require(c"relay_send", relay::send(of))?;
        check(run, relay::answer(), length)
    }

    fn give(run: &mut Run, words: &[(usize, u32)]) -> Outcome {
        ORDER.iter().for_each(|word| word.store(0, Relaxed));
        ORDER[order::MARK].store(order::IS, Relaxed);
        for (at, word) in words {
            ORDER[*at].store(*word, Relaxed);
        }
        IN[0].store(0, Relaxed);
        connect(run)?;
        buffers(run, &ORDER, 4 * WORDS as u32)?;
        ask(run, kept(&SERVER), 4)?;
        run.verify(came(0) == OBEYED)
    }

    /// Fills the request with words that differ from each other and between sizes.
    fn fill(size: u32) {
        for (i, word) in (1..).zip(&OUT[..size as usize / 4]) {
            word.store(0x9e37_79b9_u32.wrapping_mul(i) ^ size, Relaxed);
        }
    }

    /// Changes its ends from sample to sample.
    fn touch(size: u32) {
        let seq = SEQ.load(Relaxed).wrapping_add(1);
        SEQ.store(seq, Relaxed);
        let words = &OUT[..size as usize / 4];
        words
            .first()
            .into_iter()
            .chain(words.last())
            .for_each(|word| word.store(seq, Relaxed));
    }

    /// Are all these words, or their ends, equal to the request's?
    fn is_same(size: u32, all: bool) -> bool {
        let words = size as usize / 4;
        sum_of(&IN[..words], all) == sum_of(&OUT[..words], all)
    }

    fn clear(bytes: u32) {
        IN[..bytes as usize / 4]
            .iter()
            .for_each(|word| word.store(0, Relaxed));
    }

    pub fn setup_echo(run: &mut Run, size: u32) -> Outcome {
        fill(size);
        give(run, &[(order::TASK, task::ECHO), (order::SIZE, size)])?;
        buffers(run, &OUT[..size as usize / 4], size)
    }

    pub fn sample_echo(run: &mut Run, size: u32) -> Outcome {
        touch(size);
        let words = &IN[..size as usize / 4];
        words
            .first()
            .into_iter()
            .chain(words.last())
            .for_each(|word| word.store(0, Relaxed));
        let server = kept(&SERVER);
        let sent = reading::take(0);
        let asked = relay::send(server);
        run.require(c"relay_send", asked)?;
        let length = relay::answer();
        let answered = reading::take(0);
        run.put_sample(sent, answered);
        check(run, length, size)?;
        run.verify(is_same(size, false))
    }

    pub fn finish_echo(run: &mut Run, size: u32) -> Outcome {
        clear(size);
        ask(run, kept(&SERVER), size)?;
        run.verify(is_same(size, true))
    }

    pub fn setup_round_trip(run: &mut Run) -> Outcome {
        setup_echo(run, run.value(0))
    }

    pub fn sample_round_trip(run: &mut Run) -> Outcome {
        sample_echo(run, run.value(0))
    }

    pub fn finish_round_trip(run: &mut Run) -> Outcome {
        finish_echo(run, run.value(0))
    }

    pub fn setup_stamp(run: &mut Run, size: u32, all: bool) -> Outcome {
        give(
            run,
            &[(order::TASK, task::STAMP), (order::CHECK, all.into())],
        )?;
        buffers(run, &OUT[..size as usize / 4], 4 * note::WORDS as u32)
    }

    fn check_note(run: &mut Run, size: u32, all: bool) -> Outcome {
        let sum = sum_of(&OUT[..size as usize / 4], all);
        run.verify(came(note::LENGTH) == size && came(note::SUM) == sum)
    }

    /// A negative sample contains a reading of another request.
    pub fn sample_stamp(run: &mut Run, size: u32) -> Outcome {
        touch(size);
        clear(4 * note::WORDS as u32);
        let server = kept(&SERVER);
        let sent = reading::take(0);
        ask(run, server, 4 * note::WORDS as u32)?;
        check_note(run, size, false)?;
        run.put_sample(sent, [came(note::AT), came(note::AT + 1)]);
        if run.cycles() < 1 << 31 {
            Ok(())
        } else {
            run.fail(c"timestamp", c"STALE")
        }
    }

    pub fn setup_bandwidth(run: &mut Run) -> Outcome {
        let size = run.value(0);
        fill(size);
        setup_stamp(run, size, false)
    }

    pub fn finish_bandwidth(run: &mut Run) -> Outcome {
        let size = run.value(0);
        setup_stamp(run, size, true)?;
        ask(run, kept(&SERVER), 4 * note::WORDS as u32)?;
        check_note(run, size, true)
    }

    /// Runs this many KiB of 4-byte NOPs.
    pub fn before_set(run: &mut Run) -> Outcome {
        let passed = Asm::run_nops(1024 * run.value(0), PASSED);
        run.verify(passed == PASSED)
    }

    /// Starts the rivals, once: they get the id of the server.
    fn start_rivals(run: &mut Run) -> Outcome {
        if STARTED.load(Relaxed) {
            return Ok(());
        }
        keep(&GO, kept(&SERVER));
        for (name, place) in RIVALS.into_iter().zip([&FIRST, &SECOND]) {
            find(run, Registry::Package, name, place)?;
            buffers(run, &GO, 0)?;
            ask(run, kept(place), 0)?;
        }
        STARTED.store(true, Relaxed);
        Ok(())
    }

    /// The server takes the sender of its first order for its client, so the rivals start after that.
    pub fn setup_served(run: &mut Run) -> Outcome {
        setup_echo(run, 0)?;
        start_rivals(run)
    }

    pub fn sample_served(run: &mut Run) -> Outcome {
        let of = match run.value(0) {
            0 => order::WHO_ORDERS,
            1 => kept(&FIRST).low,
            _ => kept(&SECOND).low,
        };
        let enough = run.inner();
        let words = [
            (order::TASK, task::CONTEST),
            (order::OF, of),
            (order::ANSWERS, enough),
        ];
        give(run, &words)?;
        buffers(run, &[], 4 * score::WORDS as u32)?;
        let length = loop {
            run.require(c"relay_send", relay::send(kept(&SERVER)))?;
            let length = relay::answer();
            if length != Ok(0) {
                break length;
            }
        };
        check(run, length, 4 * score::WORDS as u32)?;
        let reading = |at: usize| [came(at), came(at + 1)];
        run.put_sample(reading(score::FROM), reading(score::TO));
        if came(score::ENOUGH) != 0 {
            Ok(())
        } else {
            run.skip(c"others had 48 answers first")
        }
    }

    /// The name that a measured search looks for.
    static LOOKED_FOR: Stage<&'static [u8]> = Stage::new();

    extern "C" fn find_string(name: &mut &'static [u8]) -> Words {
        let _ = Registry::String.name(name);
        Words::of(Registry::String.find().map(|process| process.low))
    }

    extern "C" fn find_package(name: &mut &'static [u8]) -> Words {
        let _ = Registry::Package.name(name);
        Words::of(Registry::Package.find().map(|process| process.low))
    }

    pub fn setup_discover(run: &mut Run) -> Outcome {
        connect(run)?;
        let by_string = run.value(0) == ipc2_discover::by::STRING;
        let hit = run.value(1) == ipc2_discover::found::HIT;
        let name = match (by_string, hit) {
            (true, true) => SERVER_STRING,
            (true, false) => b"tockmark ipc2 nobody",
            (false, true) => SERVER_PACKAGE,
            (false, false) => b"ipc2_nobody",
        };
        let body = if by_string { find_string } else { find_package };
        LOOKED_FOR.measure(run, body, name)
    }

    pub fn finish_discover(run: &mut Run) -> Outcome {
        let hit = run.value(1) == ipc2_discover::found::HIT;
        let is_server = run.result()[0] == Words::OK && run.result()[1] == kept(&SERVER).low;
        run.verify(if hit {
            is_server
        } else {
            run.result()[0] != Words::OK
        })
    }

    fn word_of(returned: Result<(), ErrorCode>) -> u32 {
        returned.err().map_or(0, |error| error as u32)
    }

    extern "C" fn register_string(_nothing: u32) -> u32 {
        let _ = Registry::String.name(b"tockmark ipc2 client");
        word_of(Registry::String.register())
    }

    extern "C" fn register_package(_nothing: u32) -> u32 {
        word_of(Registry::Package.register())
    }

    pub fn setup_register(run: &mut Run) -> Outcome {
        connect(run)?;
        let body = if run.value(0) == ipc2_register::by::STRING {
            register_string
        } else {
            register_package
        };
        run.measure(Body::new(body), 0)
    }
}

#[cfg(not(feature = "abi-v1"))]
use client::*;

/// A row that version 1 skips, without hooks.
#[cfg(feature = "abi-v1")]
macro_rules! row {
    ($name:ident $($rest:tt)*) => {
        bench!($name);
    };
}
#[cfg(not(feature = "abi-v1"))]
use tock::bench as row;

row!(ipc2_register, setup: setup_register);
row!(ipc2_discover, returns_any: true, setup: setup_discover, finish: finish_discover);
row!(ipc2_request, setup: |run| setup_stamp(run, 0, false), sample: |run| sample_stamp(run, 0));
row!(ipc2_round_trip, setup: setup_round_trip, sample: sample_round_trip, finish: finish_round_trip);
row!(ipc2_round_trip_late, setup: setup_round_trip, sample: sample_round_trip,
    finish: finish_round_trip);
row!(ipc2_bandwidth, setup: setup_bandwidth, sample: |run| sample_stamp(run, run.value(0)),
    finish: finish_bandwidth);
row!(ipc2_working_set, setup: |run| setup_echo(run, SET_SIZE), before: before_set,
    sample: |run| sample_echo(run, SET_SIZE), finish: |run| finish_echo(run, SET_SIZE));
row!(ipc2_served, setup: setup_served, sample: sample_served);
app!(c"ipc2", benches_ipc2!());
