// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The app awake: how long the core is awake for one event, from the first instruction of an upcall to that
//! of the next one, with sleep between them. apps/c/awake.c is the same in C, and says why.

#![no_std]
#![no_main]

use core::sync::atomic::{AtomicBool, AtomicU32, Ordering::Relaxed};

use suite::exchange::{Exchange, SERVER_NAME, WORDS};
use suite::reading::{self, Reading};
use suite::{app, benches_awake, input, peer, rows};
use tock::ipc::{self, Shared};
use tock::runtime::{Outcome, Run, Stop};
use tock::{Kernel, Syscalls, alarm, bench};

const BETWEEN: u32 = 12_000; // cycles between two bytes
const MS: u32 = 1; // between two requests

static RANG: AtomicBool = AtomicBool::new(false);
static AT: [AtomicU32; 2] = [const { AtomicU32::new(0) }; 2]; // when the alarm's upcall ran
static PER_MS: AtomicU32 = AtomicU32::new(0); // ticks

fn on_alarm(_now: u32, _due: u32, _zero: u32) {
    let now = reading::take(input::counter());
    AT[0].store(now[0], Relaxed);
    AT[1].store(now[1], Relaxed);
    RANG.store(true, Relaxed);
}

fn per_ms() -> u32 {
    PER_MS.load(Relaxed)
}

fn set_alarm(run: &mut Run, ticks: u32) -> Outcome {
    RANG.store(false, Relaxed);
    run.require(c"alarm_set", alarm::after(ticks))
}

fn sleep_until(over: &AtomicBool) {
    while !over.load(Relaxed) {
        Kernel::yield_wait();
    }
}

/// Sleeps until the alarm, and returns when its upcall ran.
fn wait_for_alarm() -> Reading {
    sleep_until(&RANG);
    [AT[0].load(Relaxed), AT[1].load(Relaxed)]
}

/// Sleeps until an alarm, and returns the time of its upcall, with which a sample begins.
fn begin(run: &mut Run) -> Result<Reading, Stop> {
    input::use_counter(run.counter());
    set_alarm(run, per_ms() / 4 + 1)?;
    Ok(wait_for_alarm())
}

fn setup_alarm(run: &mut Run) -> Outcome {
    let frequency = run.require(c"alarm_frequency", alarm::frequency())?;
    PER_MS.store(frequency / 1000, Relaxed);
    run.require(c"alarm_subscribe", alarm::subscribe_static(&on_alarm))
}

fn sample_alarm(run: &mut Run) -> Outcome {
    let begun = begin(run)?;
    set_alarm(run, per_ms() * run.value(0))?;
    let ended = wait_for_alarm();
    run.put_sample(begun, ended);
    Ok(())
}

fn finish_alarm(_run: &mut Run) -> Outcome {
    alarm::unsubscribe();
    Ok(())
}

fn before_receive(run: &mut Run) -> Outcome {
    input::ask(run, 2, BETWEEN)
}

fn sample_receive(run: &mut Run) -> Outcome {
    input::use_counter(run.counter());
    run.require(c"read", input::start(1))?;
    let begun = input::wait();
    input::came(run, 0, 1)?;
    run.require(c"read", input::start(1))?;
    let ended = input::wait();
    run.put_sample(begun, ended);
    input::came(run, 1, 1)
}

static SHARED: Exchange = [const { AtomicU32::new(0) }; WORDS]; // the role stays Echo
static SERVER: AtomicU32 = AtomicU32::new(0);
static ANSWERED: AtomicBool = AtomicBool::new(false);

fn on_answer(_service: u32, _shared: Shared<'_>) {
    ANSWERED.store(true, Relaxed);
}

fn setup_ipc(run: &mut Run) -> Outcome {
    let server = run.require(c"ipc_discover", peer::find(SERVER_NAME, 1))?;
    SERVER.store(server, Relaxed);
    run.require(c"ipc_subscribe", ipc::listen(server, &on_answer))?;
    run.require(c"ipc_share", ipc::share(server, &SHARED))?;
    setup_alarm(run)
}

fn sample_ipc(run: &mut Run) -> Outcome {
    let begun = begin(run)?;
    ANSWERED.store(false, Relaxed);
    set_alarm(run, per_ms() * MS)?;
    run.require(c"ipc_notify", ipc::notify_service(SERVER.load(Relaxed)))?;
    sleep_until(&ANSWERED);
    let ended = wait_for_alarm();
    run.put_sample(begun, ended);
    Ok(())
}

bench!(awake_alarm, setup: setup_alarm, sample: sample_alarm, finish: finish_alarm);
bench!(awake_receive, setup: input::setup, before: before_receive, sample: sample_receive, finish: input::finish);
bench!(awake_ipc, setup: setup_ipc, sample: sample_ipc, finish: finish_alarm);
app!(c"awake", benches_awake!());
