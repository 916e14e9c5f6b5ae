// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The app boot: the time from reset to the first instruction of the first app, this one, with idle.rs in the
//! slots after it; and in scene 8, the time from the exit of an app that asks for a restart (restarter.rs, in
//! the slot before this one) to its first instruction. The simulator's marks give the times.

#![no_std]
#![no_main]

use core::sync::atomic::{AtomicBool, AtomicU32, Ordering::Relaxed};

use suite::{app, benches_boot, peer, rows};
use tock::ipc::{self, Shared};
use tock::runtime::{self, Outcome, Run};
use tock::{Kernel, Syscalls, bench};

static RESTARTER: AtomicU32 = AtomicU32::new(0);
static STARTED: AtomicBool = AtomicBool::new(false);

fn on_start(_sender: u32, _shared: Shared<'_>) {
    STARTED.store(true, Relaxed);
}

fn setup_restart(run: &mut Run) -> Outcome {
    let restarter = run.require(c"ipc_discover", peer::find("restarter", 1))?;
    RESTARTER.store(restarter, Relaxed);
    run.require(c"ipc_subscribe", ipc::listen(restarter, &on_start))
}

/// The restarter notifies this app when it has started.
fn sample_restart(run: &mut Run) -> Outcome {
    STARTED.store(false, Relaxed);
    runtime::arm();
    run.require(c"ipc_notify", ipc::notify_service(RESTARTER.load(Relaxed)))?;
    while !STARTED.load(Relaxed) {
        Kernel::yield_wait();
    }
    Ok(())
}

// The time that boot.per_process measures has passed before this app runs.
bench!(boot_per_process, from: c"reset", to: c"start", sample: |_run| Ok(()));
bench!(boot_restart, from: c"exit", to: c"start", setup: setup_restart, sample: sample_restart);
app!(c"boot", benches_boot!());
