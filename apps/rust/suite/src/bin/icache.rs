// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The app icache: straight runs of NOPs, which show the size of the instruction cache. They are in
//! asm/nops.S.

#![no_std]
#![no_main]

use suite::{app, benches_icache, rows};
use tock::bench;
use tock::runtime::{Asm, Outcome, Run};

const PASSED: u32 = 0x5eed;

/// The body starts this many bytes before the end of the run. It returns its argument.
fn setup(run: &mut Run) -> Outcome {
    run.measure(Asm::nops(run.value(0), run.value(1)), PASSED)
}

bench!(icache_nops, expect: PASSED, setup: setup);
app!(c"icache", benches_icache!());
