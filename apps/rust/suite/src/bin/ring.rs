// SPDX-License-Identifier: Apache-2.0 OR MIT

//! A member of the ring of the group ctx. When the previous member notifies it, it walks over its working set
//! and notifies the next one; the last member notifies the app ctx, where the ring begins. When ctx notifies
//! it as a client, it changes to the next size of the set and confirms that. Prints nothing.

#![no_std]
#![no_main]

use core::sync::atomic::{AtomicU32, Ordering::Relaxed};

use suite::{peer, ring};
use tock::runtime::link;
use tock::{ErrorCode, ipc};

static CTX: AtomicU32 = AtomicU32::new(0);
static NEXT: AtomicU32 = AtomicU32::new(0);
static SIZE: AtomicU32 = AtomicU32::new(0);
static SET: [AtomicU32; ring::WORDS] = [const { AtomicU32::new(0) }; ring::WORDS];

fn on_token(_sender: u32, _shared: ipc::Shared<'_>) {
    ring::walk(&SET, ring::KIB[SIZE.load(Relaxed) as usize]);
    let _ = ipc::notify_service(NEXT.load(Relaxed));
}

fn on_grow(_sender: u32, _shared: ipc::Shared<'_>) {
    SIZE.store(SIZE.load(Relaxed) + 1, Relaxed);
    let _ = ipc::notify_service(CTX.load(Relaxed));
}

fn join() -> Result<(), ErrorCode> {
    let (slot, slots) = (link().slot, link().slots);
    CTX.store(ring::find(0)?, Relaxed);
    let own = ring::find(slot)?;
    NEXT.store(ring::find((slot + 1) % slots)?, Relaxed);
    ipc::serve(own, &on_token)?;
    ipc::listen(CTX.load(Relaxed), &on_grow)
}

suite::helper!(|| match join() {
    Ok(()) => peer::rest(),
    Err(error) => error as i32,
});
