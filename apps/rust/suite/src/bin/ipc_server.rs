// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The server of the group ipc (exchange.rs) and of other apps that need an answer: to a client that shares
//! nothing it is an echo. Prints nothing, runs for ever.

#![no_std]
#![no_main]

use core::sync::atomic::{AtomicU32, Ordering::Relaxed};

use suite::exchange::{PAYLOAD, Role, SERVER_NAME, WORDS, word};
use suite::peer;
use suite::reading::{self, Reading};
use tock::ErrorCode;
use tock::abi::TM_PERF_CYCLES;
use tock::ipc::{self, Shared};
use tock::memory::{ALIGNMENT, Area};

tock::heap!(10304); // the copy, and room to align it to ALIGNMENT
const _: () = assert!(4 * PAYLOAD + ALIGNMENT == 10304);

static OWN: AtomicU32 = AtomicU32::new(0);
static ROLE: AtomicU32 = AtomicU32::new(Role::Echo as u32);
static COUNTER: AtomicU32 = AtomicU32::new(TM_PERF_CYCLES);
static COPY: Area = Area::new();

fn play(role: Role) -> Result<(), ErrorCode> {
    let own = OWN.load(Relaxed);
    match role {
        Role::Echo => ipc::serve(own, &on_echo),
        Role::Stamp => ipc::serve(own, &on_stamp),
        Role::Send => ipc::serve(own, &on_send),
        Role::Copy => ipc::serve(own, &on_copy),
    }
}

/// Takes over the client's settings for the next exchange.
fn obey(exchange: &Shared<'_>) -> Option<()> {
    if exchange.len() < WORDS {
        return None;
    }
    COUNTER.store(exchange.get(word::COUNTER)?, Relaxed);
    let wanted = exchange.get(word::ROLE)?;
    if wanted == ROLE.load(Relaxed) {
        return None;
    }
    let role = *Role::ALL.get(wanted as usize)?;
    ROLE.store(wanted, Relaxed);
    play(role).ok()
}

fn write_down(exchange: &Shared<'_>, at: Reading) -> Option<()> {
    exchange.set(word::FIRST, at[0])?;
    exchange.set(word::SECOND, at[1])?;
    exchange.set(word::SEEN, exchange.get(word::SEQ)?)
}

fn on_echo(client: u32, exchange: Shared<'_>) {
    let _ = ipc::notify_client(client);
    obey(&exchange);
}

fn on_stamp(client: u32, exchange: Shared<'_>) {
    let at = reading::take(COUNTER.load(Relaxed));
    write_down(&exchange, at);
    let _ = ipc::notify_client(client);
    obey(&exchange);
}

fn on_send(client: u32, exchange: Shared<'_>) {
    let at = reading::take(COUNTER.load(Relaxed));
    let _ = ipc::notify_client(client);
    write_down(&exchange, at);
    let _ = ipc::notify_client(client);
    obey(&exchange);
}

/// Is the copy equal to the payload? Its ends show that the payload is new; all of it is compared on request.
fn is_copied(exchange: &Shared<'_>, copy: &[u32]) -> bool {
    let same = |at: usize| exchange.get(word::PAYLOAD + at) == Some(copy[at]);
    let looked_at = if exchange.get(word::CHECK) == Some(0) {
        1
    } else {
        copy.len()
    };
    same(copy.len() - 1) && (0..looked_at).all(same)
}

fn copy(exchange: &Shared<'_>) -> Option<()> {
    let mut copy = COPY.lend(exchange.get(word::SIZE)? as usize / 4)?;
    exchange.copy_to(&mut copy, word::PAYLOAD)?;
    let at = reading::take(COUNTER.load(Relaxed));
    write_down(exchange, at)?;
    exchange.set(word::GOOD, is_copied(exchange, &copy).into())
}

fn on_copy(client: u32, exchange: Shared<'_>) {
    copy(&exchange);
    let _ = ipc::notify_client(client);
    obey(&exchange);
}

fn start() -> Result<(), ErrorCode> {
    COPY.reserve(PAYLOAD)?;
    OWN.store(peer::find(SERVER_NAME, 1)?, Relaxed);
    play(Role::Echo)
}

suite::helper!(|| match start() {
    Ok(()) => peer::rest(),
    Err(error) => error as i32,
});
