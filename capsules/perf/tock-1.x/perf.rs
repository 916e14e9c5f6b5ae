// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Perf for Tock 1.x: lets applications read the cycle and instruction counters of the core.
//!
//! A reply of version 1 of the system-call interface is one word, so of the commands that are
//! described in [`commands`](crate::perf::commands) it has 0, 1, 2 and 8. A counter's low half is
//! that word, whatever its sign. Subscription 0 takes the upcall of command 8.
//!
//! Usage
//! -----
//!
//! This file is `capsules/src/perf.rs`, and `commands.rs` goes to `perf/` beside it. The board
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

/// The number that the study of 2021 gave it, which was free then.
pub const DRIVER_NUM: usize = 0x90004;

/// What a process has of this driver: its callback.
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

    /// A function of its own, so that reading a counter does not save the registers that this needs.
    #[inline(never)]
    fn schedule(&self, process: AppId, r0: usize, r1: usize, r2: usize) -> ReturnCode {
        let scheduled = self.subscription.enter(process, |subscription, _| {
            // No callback is no error: in version 2 the null upcall swallows it.
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
