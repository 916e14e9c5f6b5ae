// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Perf for Tock 1.x: lets applications read the cycle and instruction counters of the core.
//!
//! In version 1 of the system-call interface a reply is one word, so this driver has only commands 0, 1, 2
//! and 8 of [`commands`](crate::perf::commands). The word is a counter's low half, even if that makes it
//! negative. Subscription 0 is the upcall of command 8.
//!
//! Usage
//! -----
//!
//! This file is `capsules/src/perf.rs`; put `commands.rs` into the folder `perf/` next to it. The board
//! implements `Counters` for its core, and registers the driver at [`DRIVER_NUM`]:
//!
//! ```rust,ignore
//! let perf = static_init!(
//!     capsules::perf::Perf<IbexCounters>,
//!     capsules::perf::Perf::new(
//!         IbexCounters,
//!         board_kernel.create_grant(&memory_allocation_cap),
//!     )
//! );
//! ```

pub mod commands;

use commands::{Counters, Reply};
use kernel::{AppId, Callback, Driver, Grant, ReturnCode};

/// The number in the study of 2021; it was free then.
pub const DRIVER_NUM: usize = 0x90004;

/// The state that each process has in this driver: its callback.
#[derive(Default)]
pub struct Subscription(Option<Callback>);

pub struct Perf<C> {
    commands: commands::Perf<C>,
    subscription: Grant<Subscription>,
}

impl<C: Counters> Perf<C> {
    pub fn new(counters: C, subscription: Grant<Subscription>) -> Self {
        Self {
            commands: commands::Perf::new(counters),
            subscription,
        }
    }

    /// A separate function, so that reading a counter does not save the registers that this one needs.
    #[inline(never)]
    fn schedule(&self, process: AppId, r0: usize, r1: usize, r2: usize) -> ReturnCode {
        let scheduled = self.subscription.enter(process, |subscription, _| {
            // A missing callback is no error: in version 2 the null upcall ignores the event.
            subscription
                .0
                .map_or(true, |mut callback| callback.schedule(r0, r1, r2))
        });
        match scheduled {
            Ok(true) => ReturnCode::SUCCESS,
            Ok(false) => ReturnCode::ENOMEM, // its queue is full
            Err(error) => error.into(),
        }
    }
}

impl<C: Counters> Driver for Perf<C> {
    fn command(&self, number: usize, argument: usize, _: usize, process: AppId) -> ReturnCode {
        match self.commands.command(number as u32, argument as u32) {
            Reply::Success => ReturnCode::SUCCESS,
            Reply::U32(value) => ReturnCode::SuccessWithValue {
                value: value as usize,
            },
            Reply::Upcall(cycles, instructions, argument) => self.schedule(
                process,
                cycles as usize,
                instructions as usize,
                argument as usize,
            ),
            Reply::Pair(..) | Reply::U64(_) | Reply::NoSupport => ReturnCode::ENOSUPPORT,
        }
    }

    fn subscribe(&self, number: usize, callback: Option<Callback>, process: AppId) -> ReturnCode {
        if number != 0 {
            return ReturnCode::ENOSUPPORT;
        }
        self.subscription
            .enter(process, |subscription, _| subscription.0 = callback)
            .map_or_else(ReturnCode::from, |()| ReturnCode::SUCCESS)
    }
}
