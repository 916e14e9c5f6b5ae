// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The app upcall: the time from a command that schedules an upcall to its arrival. See asm/upcalls.S.

#![no_std]
#![no_main]

use core::sync::atomic::{AtomicU32, Ordering::Relaxed};

use suite::{app, benches_upcall, bodies, rows};
use tock::abi::TM_PERF;
use tock::runtime::{self, Outcome, Run};
use tock::{Kernel, Syscalls, bench, perf};

const UPCALL: u32 = 0;
const RETURNED: u32 = 42;

static UPCALLS: AtomicU32 = AtomicU32::new(0);

/// Tries the command once, so as not to wait for ever on a kernel without it.
fn try_it(run: &mut Run) -> Outcome {
    UPCALLS.store(0, Relaxed);
    if cfg!(target_arch = "arm") && !perf::exists() {
        return run.skip(c"this kernel has no Perf, whose upcall it takes");
    }
    run.require(
        c"subscribe",
        runtime::count_upcalls(TM_PERF, UPCALL, &UPCALLS),
    )?;
    if perf::schedule_upcall(0).is_err() {
        return run.skip(c"this kernel's Perf schedules no upcalls");
    }
    Kernel::yield_wait();
    run.verify(UPCALLS.load(Relaxed) == 1)
}

fn setup(run: &mut Run) -> Outcome {
    try_it(run)?;
    run.measure(bodies::tm_upcall_yield_wait, &UPCALLS)
}

fn finish(_run: &mut Run) -> Outcome {
    perf::unsubscribe();
    Ok(())
}

#[cfg(not(feature = "abi-v1"))]
fn setup_wait_for(run: &mut Run) -> Outcome {
    try_it(run)?;
    let _ = perf::schedule_upcall(RETURNED);
    let (_, _, argument) = perf::wait_for_upcall();
    if argument != RETURNED {
        return run.skip(c"this kernel has no yield-wait-for");
    }
    run.measure(bodies::tm_upcall_yield_wait_for, &UPCALLS)
}

#[cfg(feature = "abi-v1")]
use setup as setup_wait_for; // it is skipped

bench!(upcall_yield_wait, expect: 1, setup: setup, finish: finish);
bench!(upcall_yield_wait_for, expect: RETURNED, setup: setup_wait_for, finish: finish);
app!(c"upcall", benches_upcall!());
