// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The app ctx: the cost of passing a token on. This app is in the first slot, ring.rs in the slots
//! after it; each notifies the next one and yields. A sample has as many rounds as make up the hops
//! of the catalogue.

#![no_std]
#![no_main]

use core::sync::atomic::{AtomicU32, Ordering::Relaxed};

use suite::rows::{self, ctx_ring};
use suite::{app, benches_ctx, ring};
use tock::ipc::{self, Shared};
use tock::runtime::{self, Outcome, Run, Stage, link};
use tock::{Kernel, Syscalls, bench};

const MOST: usize = ctx_ring::processes::MAX as usize;

static MEMBERS: [AtomicU32; MOST] = [const { AtomicU32::new(0) }; MOST]; // IPC numbers, by slot
static SIZE: AtomicU32 = AtomicU32::new(0);
static ROUNDS: Stage<Rounds> = Stage::new();
static TOKENS: AtomicU32 = AtomicU32::new(0);

fn on_token(_sender: u32, _shared: Shared<'_>) {
    TOKENS.store(TOKENS.load(Relaxed) + 1, Relaxed);
}

fn await_token() {
    while TOKENS.load(Relaxed) == 0 {
        Kernel::yield_wait();
    }
    TOKENS.store(0, Relaxed);
}

/// The work of a sample.
struct Rounds {
    many: u32,
    set: &'static [AtomicU32; ring::WORDS], // after the few samples: RAM is short for four apps
}

/// Returns how often the token was sent successfully.
extern "C" fn go_round(&mut Rounds { many, set }: &mut Rounds) -> u32 {
    let next = MEMBERS[1].load(Relaxed);
    for done in 0..many {
        ring::walk(set, ring::KIB[SIZE.load(Relaxed) as usize]);
        if ipc::notify_service(next).is_err() {
            return done;
        }
        await_token();
    }
    many
}

/// Joins the ring, once. The other apps have had time to register.
fn join(run: &mut Run) -> Outcome {
    for slot in 0..link().slots {
        let number = run.require(c"ipc_discover", ring::find(slot))?;
        MEMBERS[slot as usize].store(number, Relaxed);
    }
    run.require(
        c"ipc_subscribe",
        ipc::serve(MEMBERS[0].load(Relaxed), &on_token),
    )
}

fn grow(run: &mut Run) -> Outcome {
    for member in &MEMBERS[1..link().slots as usize] {
        run.require(c"ipc_notify", ipc::notify_client(member.load(Relaxed)))?;
        await_token();
    }
    SIZE.store(SIZE.load(Relaxed) + 1, Relaxed);
    Ok(())
}

fn setup(run: &mut Run) -> Outcome {
    static JOINED: AtomicU32 = AtomicU32::new(0);
    if JOINED.load(Relaxed) == 0 {
        join(run)?;
        JOINED.store(1, Relaxed);
    }
    while ring::KIB[SIZE.load(Relaxed) as usize] != run.value(1) {
        grow(run)?;
    }
    let many = run.inner() / run.value(0);
    run.expect(many);
    match runtime::behind_samples(run) {
        Some(set) => ROUNDS.measure(run, go_round, Rounds { many, set }),
        None => run.skip(c"too little RAM is left for an app"),
    }
}

bench!(ctx_ring, setup: setup, events_to: 2); // a hop has nearly the same events in a larger ring
app!(c"ctx", benches_ctx!());
