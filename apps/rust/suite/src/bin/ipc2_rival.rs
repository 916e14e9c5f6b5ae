// SPDX-License-Identifier: Apache-2.0 OR MIT

//! A client that sends requests to the server of the group ipc2 for ever, once ipc2_client.rs has started it
//! (orders.rs). Prints nothing.

#![no_std]
#![no_main]

#[cfg(not(feature = "abi-v1"))]
mod rival {
    use core::sync::atomic::Ordering::Relaxed;

    use suite::orders::{Message, message};
    use tock::ErrorCode;
    use tock::relay::{self, Process, Registry};

    static GO: Message<2> = message();

    fn await_go() -> Result<Process, ErrorCode> {
        Registry::Package.register()?;
        relay::room(&GO)?;
        relay::enable()?;
        loop {
            relay::request();
            if relay::take().is_ok() {
                break;
            }
        }
        relay::respond()?;
        let [low, high] = [GO[0].load(Relaxed), GO[1].load(Relaxed)];
        Ok(Process { low, high })
    }

    pub fn run() -> Result<(), ErrorCode> {
        let server = await_go()?;
        loop {
            relay::send(server)?;
            let _ = relay::answer();
        }
    }
}

#[cfg(not(feature = "abi-v1"))]
suite::helper!(|| rival::run().map_or_else(|error| error as i32, |()| 0));

#[cfg(feature = "abi-v1")]
suite::helper!(|| suite::peer::rest());
