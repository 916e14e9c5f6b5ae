// SPDX-License-Identifier: Apache-2.0 OR MIT

//! An app that shares 64 bytes with any app that notifies it, and notifies it back. Prints nothing.

#![no_std]
#![no_main]

use core::sync::atomic::{AtomicU32, Ordering::Relaxed};

use suite::peer;
use tock::ipc::{self, Shared};
use tock::runtime;

static SHARED: [AtomicU32; 16] = [const { AtomicU32::new(0) }; 16];

fn on_ask(client: u32, _shared: Shared<'_>) {
    SHARED[0].store(peer::SHARER_WORD, Relaxed);
    let _ = ipc::share(client, &SHARED);
    let _ = ipc::notify_client(client);
}

// The number of this sharer follows from its slot: the first one is in slot 1.
suite::helper!(|| peer::serve("sharer", runtime::link().slot, &on_ask));
