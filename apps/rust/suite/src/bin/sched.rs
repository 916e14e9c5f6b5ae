// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The app sched: how late an alarm's upcall comes, with this app alone, next to an app that spins
//! (spinner.rs), and next to two that do IPC (pinger.rs, ipc_server.rs); and how long another app's time
//! slice (spinner.rs) takes this one off the core.

#![no_std]
#![no_main]

use suite::{alarm_mark, app, benches_sched, reading, rows};
use tock::bench;
use tock::runtime::{Outcome, Run};

const JUMP: u32 = 8;
const PATIENCE: u32 = 1_000_000;

/// Reads the counter until it jumps by JUMP times the shortest read.
fn sample_jump(run: &mut Run) -> Outcome {
    let counter = run.counter();
    let start = reading::take(counter);
    let (mut last, mut least) = (start, None);
    loop {
        let now = reading::take(counter);
        let passed = now[0].wrapping_sub(last[0]);
        if least.is_some_and(|least| passed / JUMP > least) {
            run.put_sample(last, now);
            return Ok(());
        }
        least = Some(least.map_or(passed, |least| passed.min(least)));
        if now[0].wrapping_sub(start[0]) > PATIENCE {
            return run.skip(c"this kernel has no time slices");
        }
        last = now;
    }
}

tock::mark_upcall!(tm_mark_upcall, alarm_mark::ring);
bench!(sched_alarm_lateness, from: c"irq", to: c"upcall", setup: |run| alarm_mark::setup(run, tm_mark_upcall),
    sample: alarm_mark::sample, finish: alarm_mark::finish);
bench!(sched_preempted, all_samples: true, sample: sample_jump);
app!(c"sched", benches_sched!());
