// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Samples of an alarm, for the groups sched and irq: each sets an alarm and sleeps until its upcall. The
//! simulator's marks give the times. apps/c/alarm_mark.h is the same in C.

use core::sync::atomic::{AtomicBool, AtomicU32, Ordering::Relaxed};

#[cfg(not(feature = "calls"))]
use tock::abi::{TOCK_ALARM, TOCK_ALARM_UPCALL};
use tock::alarm;
use tock::runtime::{self, Marked, Outcome, Run};
#[cfg(feature = "calls")]
use tock::{ErrorCode, runtime::Stage};
#[cfg(not(feature = "calls"))]
use tock::{Kernel, Syscalls};

use crate::peer::START_MS;

static RANG: AtomicBool = AtomicBool::new(false);
static PER_MILLISECOND: AtomicU32 = AtomicU32::new(0); // ticks
static LEAST: AtomicU32 = AtomicU32::new(0); // ticks: the shortest alarm that comes while another app runs

/// The work of the alarm's upcall. Each app defines the upcall itself, since it is a mark.
pub fn ring(_now: u32, _due: u32, _zero: u32) {
    RANG.store(true, Relaxed);
}

/// Subscribes the alarm's upcall, until `finish`.
#[cfg(not(feature = "calls"))]
fn subscribe(run: &mut Run, upcall: Marked) -> Outcome {
    let subscribed = runtime::subscribe_marked(TOCK_ALARM, TOCK_ALARM_UPCALL, upcall);
    run.require(c"alarm_subscribe", subscribed)
}

/// Sets the alarm and sleeps until its upcall has run.
#[cfg(not(feature = "calls"))]
fn ring_after(run: &mut Run, ticks: u32) -> Outcome {
    RANG.store(false, Relaxed);
    run.require(c"alarm_set", alarm::after(ticks))?;
    while !RANG.load(Relaxed) {
        Kernel::yield_wait();
    }
    Ok(())
}

#[cfg(feature = "calls")]
static UPCALL: Stage<Marked> = Stage::new();

/// Does nothing: a library subscribes the upcall for each alarm.
#[cfg(feature = "calls")]
fn subscribe(run: &mut Run, upcall: Marked) -> Outcome {
    UPCALL.keep(run, upcall);
    Ok(())
}

#[cfg(feature = "calls")]
fn ring_after(run: &mut Run, ticks: u32) -> Outcome {
    RANG.store(false, Relaxed);
    let upcall = UPCALL.get(run).copied();
    let upcall = run.require(c"alarm_subscribe", upcall.ok_or(ErrorCode::Invalid))?;
    let rang = crate::calls::ring_after(ticks, upcall, &RANG);
    run.require(c"alarm_set", rang)
}

/// Finds the shortest alarm that comes when another app is already running, not while the kernel is still
/// switching to it: see apps/c/alarm_mark.h. The duration of that is estimated from alarms that are certainly
/// late enough: how much later than requested they are over.
pub fn setup(run: &mut Run, upcall: Marked) -> Outcome {
    let frequency = run.require(c"alarm_frequency", alarm::frequency())?;
    let far = frequency / 512 + 1;
    PER_MILLISECOND.store(frequency / 1000, Relaxed);
    run.require(c"nap", alarm::nap(START_MS))?;
    subscribe(run, upcall)?;
    let mut way = 0;
    for _ in 0..3 {
        let begin = alarm::now();
        ring_after(run, far)?;
        way = way.max(alarm::now().wrapping_sub(begin).wrapping_sub(far));
    }
    LEAST.store(3 * way + 2, Relaxed);
    Ok(())
}

/// The times differ by up to 256 us, so that the samples hit the other apps at any point.
pub fn sample(run: &mut Run) -> Outcome {
    static TAKEN: AtomicU32 = AtomicU32::new(0);
    let taken = TAKEN.load(Relaxed);
    TAKEN.store(taken + 1, Relaxed);
    let more = taken * 37 % 256 * PER_MILLISECOND.load(Relaxed) / 1000;
    runtime::arm();
    ring_after(run, LEAST.load(Relaxed) + more)
}

/// Takes the upcall back.
pub fn finish(_run: &mut Run) -> Outcome {
    alarm::unsubscribe();
    Ok(())
}
