// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The app fault: the time from another app's fault to the next instruction of this app. faulter.rs is
//! several times in the slots before this one. Each faulter faults when it is notified. It runs at once,
//! since its slot is before this one; after the kernel has stopped it, this app continues after its
//! notification. The simulator's marks give the times.

#![no_std]
#![no_main]

use core::sync::atomic::{AtomicU32, Ordering::Relaxed};

use suite::{app, benches_fault, peer, rows};
use tock::runtime::{self, Outcome, Run};
use tock::{bench, ipc};

// The next instruction of this app.
tock::mark!(tm_mark_next);

fn sample(run: &mut Run) -> Outcome {
    static TAKEN: AtomicU32 = AtomicU32::new(0);
    let taken = TAKEN.load(Relaxed) + 1;
    TAKEN.store(taken, Relaxed);
    let faulter = run.require(c"ipc_discover", peer::find("faulter", taken))?;
    runtime::arm();
    let notified = ipc::notify_service(faulter);
    tm_mark_next();
    run.require(c"ipc_notify", notified)
}

bench!(fault_stop, from: c"fault", to: c"next", sample: sample);
app!(c"fault", benches_fault!());
