// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The app irq: the time from the rise of the timer's interrupt line to the kernel's first instruction, and
//! to the app's upcall. In scene 1 the core sleeps at the interrupt, in scene 2 it runs spinner.rs in user
//! mode.

#![no_std]
#![no_main]

use suite::alarm_mark::{self, finish, sample};
use suite::rows::{self, irq_entry};
use suite::{app, benches_irq};
use tock::bench;
use tock::runtime::{Outcome, Run};

/// A sleeping core continues after its WFI: the baseline kernel takes no trap there.
fn setup_entry(run: &mut Run) -> Outcome {
    run.to(if run.value(0) == irq_entry::core::ASLEEP {
        c"wake"
    } else {
        c"trap"
    });
    setup(run)
}

fn setup(run: &mut Run) -> Outcome {
    alarm_mark::setup(run, tm_mark_upcall)
}

tock::mark_upcall!(tm_mark_upcall, alarm_mark::ring);

bench!(irq_entry, from: c"irq", setup: setup_entry, sample: sample, finish: finish);
bench!(irq_upcall, from: c"irq", to: c"upcall", setup: setup, sample: sample, finish: finish);
app!(c"irq", benches_irq!());
