// SPDX-License-Identifier: Apache-2.0 OR MIT

//! An app that restarts whenever it is notified, and notifies the app boot after each start. Prints nothing.

#![no_std]
#![no_main]

use suite::peer;
use tock::ipc::{self, Shared};
use tock::{ErrorCode, runtime};

fn on_notify(_sender: u32, _shared: Shared<'_>) {
    runtime::restart();
}

fn start() -> Result<(), ErrorCode> {
    let own = peer::find("restarter", 1)?;
    let client = peer::find("boot", 1)?;
    ipc::serve(own, &on_notify)?;
    ipc::notify_client(client)
}

suite::helper!(|| match start() {
    Ok(()) => peer::rest(),
    Err(error) => error as i32,
});
