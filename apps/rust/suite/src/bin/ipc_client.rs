// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The app ipc: the cost of notifying, responding, copying, sharing and finding. It is the client of
//! ipc_server.rs; exchange.rs has their protocol, apps/c/ipc_client.c the reason for their order.

#![no_std]
#![no_main]

use core::sync::atomic::{AtomicBool, AtomicU8, AtomicU32, Ordering::Relaxed};

use suite::exchange::{Exchange, Role, SERVER_NAME, WORDS, word};
use suite::reading::{self, Reading};
use suite::rows::{self, ipc_discover_hit::part, ipc_discover_miss};
use suite::{app, benches_ipc, peer};
use tock::ipc::{self, Shared};
use tock::runtime::{Body, Outcome, Run, Stage, Stop, Words};
use tock::{ErrorCode, Kernel, Syscalls, bench};

static SHARED: Exchange = [const { AtomicU32::new(0) }; WORDS];
static SERVER: AtomicU32 = AtomicU32::new(0); // the server's number
static ROLE: AtomicU32 = AtomicU32::new(Role::Echo as u32); // the server's current role
static COUNTER: AtomicU32 = AtomicU32::new(0); // version 1: the counter that is being measured
static ANSWERS: AtomicU32 = AtomicU32::new(0); // in this exchange
static ANSWERED: [AtomicU32; 2] = [const { AtomicU32::new(0) }; 2]; // the time of the first answer

fn ours(at: usize) -> u32 {
    SHARED[at].load(Relaxed)
}

fn put(at: usize, value: u32) {
    SHARED[at].store(value, Relaxed);
}

fn on_answer(_service: u32, _shared: Shared<'_>) {
    let now = reading::take(COUNTER.load(Relaxed));
    let answers = ANSWERS.load(Relaxed);
    if answers == 0 {
        ANSWERED[0].store(now[0], Relaxed);
        ANSWERED[1].store(now[1], Relaxed);
    }
    ANSWERS.store(answers + 1, Relaxed);
}

fn answered() -> Reading {
    [ANSWERED[0].load(Relaxed), ANSWERED[1].load(Relaxed)]
}

/// Makes an exchange, and returns its start, read right before the notification.
fn exchange(run: &mut Run) -> Result<Reading, Stop> {
    let expected = if ROLE.load(Relaxed) == Role::Send as u32 {
        2
    } else {
        1
    };
    ANSWERS.store(0, Relaxed);
    put(word::SEEN, 0);
    put(word::GOOD, 0);
    put(word::SEQ, ours(word::SEQ).wrapping_add(1));
    let counter = COUNTER.load(Relaxed);
    let server = SERVER.load(Relaxed);
    let sent = reading::take(counter);
    let notified = ipc::notify_service(server);
    run.require(c"ipc_notify", notified)?;
    while ANSWERS.load(Relaxed) < expected {
        Kernel::yield_wait();
    }
    Ok(sent)
}

/// Makes the server play a role from the next exchange on.
fn ask_for(run: &mut Run, role: u32) -> Outcome {
    put(word::ROLE, role);
    put(word::COUNTER, COUNTER.load(Relaxed));
    exchange(run)?;
    ROLE.store(role, Relaxed);
    Ok(())
}

/// Connects, once, when the server has had time to register.
fn connect(run: &mut Run) -> Outcome {
    static CONNECTED: AtomicBool = AtomicBool::new(false);
    if CONNECTED.load(Relaxed) {
        return Ok(());
    }
    let server = run.require(c"ipc_discover", peer::find(SERVER_NAME, 1))?;
    SERVER.store(server, Relaxed);
    run.require(c"ipc_subscribe", ipc::listen(server, &on_answer))?;
    run.require(c"ipc_share", ipc::share(server, &SHARED))?;
    CONNECTED.store(true, Relaxed);
    Ok(())
}

fn play(run: &mut Run, role: Role) -> Outcome {
    connect(run)?;
    ask_for(run, role as u32)
}

/// In version 1, informs the server when the pass over the other counter begins.
fn before(run: &mut Run) -> Outcome {
    let wanted = run.counter();
    if COUNTER.load(Relaxed) == wanted {
        return Ok(());
    }
    COUNTER.store(wanted, Relaxed);
    ask_for(run, ROLE.load(Relaxed))
}

/// Records a sample. A negative one contains a reading of another exchange.
fn put_sample(run: &mut Run, from: Reading, to: Reading) -> Outcome {
    run.put_sample(from, to);
    if run.cycles() < 1 << 31 {
        Ok(())
    } else {
        run.fail(c"timestamp", c"STALE")
    }
}

/// Returns the server's reading in this exchange.
fn stamp(run: &mut Run) -> Result<Reading, Stop> {
    if ours(word::SEEN) != ours(word::SEQ) {
        run.fail(c"timestamp", c"UNSET")?;
    }
    Ok([ours(word::FIRST), ours(word::SECOND)])
}

fn sample_to_server(run: &mut Run) -> Outcome {
    let sent = exchange(run)?;
    let at = stamp(run)?;
    put_sample(run, sent, at)
}

fn sample_to_client(run: &mut Run) -> Outcome {
    exchange(run)?;
    let at = stamp(run)?;
    put_sample(run, at, answered())
}

fn sample_round_trip(run: &mut Run) -> Outcome {
    let sent = exchange(run)?;
    put_sample(run, sent, answered())
}

/// Fills the payload with words that differ from each other and between sizes.
fn setup_bandwidth(run: &mut Run) -> Outcome {
    let size = run.value(0);
    put(word::SIZE, size);
    for (i, word) in (1..).zip(&SHARED[word::PAYLOAD..][..size as usize / 4]) {
        word.store(0x9e37_79b9_u32.wrapping_mul(i) ^ size, Relaxed);
    }
    play(run, Role::Copy)
}

fn before_bandwidth(run: &mut Run) -> Outcome {
    let seq = ours(word::SEQ);
    put(word::PAYLOAD, seq);
    put(word::PAYLOAD + ours(word::SIZE) as usize / 4 - 1, seq);
    before(run)
}

fn sample_bandwidth(run: &mut Run) -> Outcome {
    sample_to_server(run)?;
    run.verify(ours(word::GOOD) != 0)
}

fn finish_bandwidth(run: &mut Run) -> Outcome {
    put(word::CHECK, 1);
    let checked = exchange(run);
    put(word::CHECK, 0);
    checked?;
    run.verify(ours(word::GOOD) != 0)
}

bench!(ipc_client_to_server, setup: |run| play(run, Role::Stamp), before: before,
    sample: sample_to_server);
bench!(ipc_server_to_client, setup: |run| play(run, Role::Send), before: before,
    sample: sample_to_client);
bench!(ipc_server_to_client_late, setup: |run| play(run, Role::Stamp), before: before,
    sample: sample_to_client);
bench!(ipc_round_trip, setup: |run| play(run, Role::Echo), before: before,
    sample: sample_round_trip);
bench!(ipc_bandwidth, setup: setup_bandwidth, before: before_bandwidth, sample: sample_bandwidth,
    finish: finish_bandwidth);

/// Returns a body's result for a call that returns no word.
fn word_of(returned: Result<(), ErrorCode>) -> u32 {
    returned.err().map_or(0, |error| error as u32)
}

extern "C" fn share(_nothing: u32) -> u32 {
    word_of(ipc::share(SERVER.load(Relaxed), &SHARED))
}

extern "C" fn unshare(_nothing: u32) -> u32 {
    ipc::unshare(SERVER.load(Relaxed));
    0
}

fn give(run: &mut Run) -> Outcome {
    run.require(c"ipc_share", ipc::share(SERVER.load(Relaxed), &SHARED))
}

fn take_back(_run: &mut Run) -> Outcome {
    ipc::unshare(SERVER.load(Relaxed));
    Ok(())
}

fn setup_share(run: &mut Run, body: extern "C" fn(u32) -> u32) -> Outcome {
    connect(run)?;
    run.measure(Body::new(body), 0)
}

/// A name to find. It is in RAM, which version 1 requires.
type Name = [AtomicU8; 10];
const fn in_ram(name: &[u8; 10]) -> Name {
    let mut text = [const { AtomicU8::new(0) }; 10];
    let mut at = 0;
    while at < name.len() {
        text[at] = AtomicU8::new(name[at]);
        at += 1;
    }
    text
}
static SOMEBODY: Name = in_ram(b"ipc_server");
static NOBODY: Name = in_ram(b"ipc_nobody");
static LOOKED_FOR: Stage<&'static [AtomicU8]> = Stage::new();

extern "C" fn find(name: &mut &'static [AtomicU8]) -> Words {
    Words::of(ipc::find_static(name))
}

#[cfg(not(feature = "abi-v1"))]
extern "C" fn find_allow(name: &mut &'static [AtomicU8]) -> Words {
    Words::of(ipc::name_static(name).map(|()| 0))
}

#[cfg(not(feature = "abi-v1"))]
extern "C" fn find_command(_name: &mut &'static [AtomicU8]) -> Words {
    Words::of(ipc::find_named())
}

#[cfg(not(feature = "abi-v1"))]
fn setup_part(run: &mut Run, name: &'static [AtomicU8]) -> Outcome {
    let body = match run.value(0) {
        part::ALL => find,
        part::COMMAND => find_command,
        _ => find_allow,
    };
    LOOKED_FOR.measure(run, body, name)
}

#[cfg(feature = "abi-v1")]
fn setup_part(run: &mut Run, name: &'static [AtomicU8]) -> Outcome {
    match run.value(0) {
        part::ALL => LOOKED_FOR.measure(run, find, name),
        _ => run.skip(c"version 1 finds a service by one allow"),
    }
}

fn setup_find(run: &mut Run, name: &'static [AtomicU8]) -> Outcome {
    const { assert!(part::ALL == ipc_discover_miss::part::ALL) };
    const { assert!(part::COMMAND == ipc_discover_miss::part::COMMAND) };
    setup_part(run, name)?;
    let _ = ipc::find_static(name); // the command alone uses the name that was allowed before
    connect(run)
}

fn finish_hit(run: &mut Run) -> Outcome {
    let number = run.result()[1];
    let server = run.value(0) == part::ALLOW || number == SERVER.load(Relaxed);
    run.verify(run.result()[0] == Words::OK && server)
}

fn finish_miss(run: &mut Run) -> Outcome {
    run.verify(run.result()[0] != Words::OK)
}

bench!(ipc_share, setup: |run| setup_share(run, share), before: take_back);
bench!(ipc_unshare, setup: |run| setup_share(run, unshare), before: give, finish: give);
// The finish hook checks the result of a search.
bench!(ipc_discover_hit, returns_any: true, setup: |run| setup_find(run, &SOMEBODY),
    finish: finish_hit);
bench!(ipc_discover_miss, returns_any: true, setup: |run| setup_find(run, &NOBODY),
    finish: finish_miss);
app!(c"ipc", benches_ipc!());
