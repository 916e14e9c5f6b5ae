// SPDX-License-Identifier: Apache-2.0 OR MIT

//! An app that faults when it is notified: it reads the word at address 0. Prints nothing.

#![no_std]
#![no_main]

use suite::peer;
use tock::ipc::Shared;
use tock::runtime;

fn on_notify(_sender: u32, _shared: Shared<'_>) {
    runtime::fault();
}

// The number of this faulter follows from its slot: the first one is in slot 0.
suite::helper!(|| peer::serve("faulter", runtime::link().slot + 1, &on_notify));
