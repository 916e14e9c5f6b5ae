// SPDX-License-Identifier: Apache-2.0 OR MIT

//! An app that only does IPC: it notifies the server (ipc_server.rs) and waits for the answer, for ever.

#![no_std]
#![no_main]

use core::sync::atomic::{AtomicBool, Ordering::Relaxed};

use suite::exchange::SERVER_NAME;
use suite::peer;
use tock::ipc::{self, Shared};
use tock::{ErrorCode, Kernel, Syscalls};

static ANSWERED: AtomicBool = AtomicBool::new(false);

fn on_answer(_service: u32, _shared: Shared<'_>) {
    ANSWERED.store(true, Relaxed);
}

fn ping() -> Result<(), ErrorCode> {
    let server = peer::find(SERVER_NAME, 1)?;
    ipc::listen(server, &on_answer)?;
    loop {
        ANSWERED.store(false, Relaxed);
        let _ = ipc::notify_service(server);
        while !ANSWERED.load(Relaxed) {
            Kernel::yield_wait();
        }
    }
}

suite::helper!(|| ping().err().map_or(0, |error| error as i32));
