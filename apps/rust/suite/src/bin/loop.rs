// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The app loop: the cost of loops and branches. The bodies are in asm/loops.S.

#![no_std]
#![no_main]

use suite::rows::{self, bodies};
use suite::{app, benches_loop};
use tock::bench;
use tock::runtime::{Asm, Outcome, Run};

/// A body's argument is its number of iterations.
fn iterate(run: &mut Run, body: Asm) -> Outcome {
    run.measure(body, run.inner())
}

fn setup_alternating(run: &mut Run) -> Outcome {
    run.expect(rows::loop_alternating::INNER / 2);
    iterate(run, bodies::tm_loop_alternating)
}

fn setup_align(run: &mut Run) -> Outcome {
    const BODIES: [Asm; rows::loop_align::offset::VALUES.len()] = [
        bodies::tm_loop_empty,
        bodies::tm_loop_at_2,
        bodies::tm_loop_at_4,
        bodies::tm_loop_at_6,
    ];
    iterate(run, BODIES[run.value(0) as usize / 2])
}

bench!(loop_empty, setup: |run| iterate(run, bodies::tm_loop_empty));
bench!(loop_not_taken, setup: |run| iterate(run, bodies::tm_loop_not_taken));
bench!(loop_alternating, setup: setup_alternating);
bench!(loop_taken, setup: |run| iterate(run, bodies::tm_loop_taken));
bench!(loop_align, setup: setup_align);
app!(c"loop", benches_loop!());
