// SPDX-License-Identifier: Apache-2.0 OR MIT

//! An app that reads what it may not when it is notified: the word at address 0. Prints nothing.

#![no_std]
#![no_main]

use suite::peer;
use tock::ipc::Shared;
use tock::runtime;

fn on_notify(_sender: u32, _shared: Shared<'_>) {
    runtime::fault();
}

// Which of its kind this is follows from its slot: the first one stands in slot 0.
suite::beside!(|| peer::serve("faulter", runtime::link().slot + 1, &on_notify));
