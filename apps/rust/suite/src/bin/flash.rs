// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The app flash: the cost of data in flash. Bodies and tables are in asm/flash.S.

#![no_std]
#![no_main]

use suite::rows::{bodies, flash_latency, flash_read_seq, flash_read_sporadic};
use suite::{app, benches_flash, rows};
use tock::bench;
use tock::runtime::{Outcome, Run, flash};

const WORDS: usize = flash_read_seq::INNER as usize;

fn setup_seq(run: &mut Run) -> Outcome {
    run.expect(flash::table()[WORDS - 1]);
    Ok(())
}

/// Follows the walk here to get its expected sum.
fn setup_sporadic(run: &mut Run) -> Outcome {
    let (mut loads, mut at, mut sum) = (0, 0, 0);
    while let Some(&word) = flash::table().get(at) {
        at += 1 + word as usize;
        sum += word;
        loads += 1;
    }
    run.expect(sum);
    run.verify(loads == flash_read_sporadic::INNER)
}

/// Follows the chain here to get the address after the loads of a sample.
fn setup_chain(run: &mut Run) -> Outcome {
    let start = match run.value(0) {
        flash_latency::to::WITHIN => flash::within(),
        flash_latency::to::NEXT => flash::next(),
        _ => flash::far(),
    };
    let end = (0..flash_latency::INNER).fold(start, |at, _| at.follow());
    run.expect(end.address());
    run.measure(bodies::tm_flash_chain, start.address())
}

bench!(flash_read_seq, body: bodies::tm_flash_read_seq, setup: setup_seq);
bench!(flash_read_sporadic, body: bodies::tm_flash_read_sporadic, setup: setup_sporadic);
bench!(flash_latency, setup: setup_chain);
app!(c"flash", benches_flash!());
