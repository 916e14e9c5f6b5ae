// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The app fault: from an app's fault to the next instruction of another one, this. In the slots before
//! it stands faulter.rs, several times: each faults when it is notified, and being before this app it
//! runs at once, so that this one goes on right behind its notification when the kernel has stopped it.
//! The times are the simulator's, by its marks.

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
