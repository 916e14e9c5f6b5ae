// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Perf for Tock 2.x: lets applications read the cycle, instruction and event counters of the core.
//!
//! [`commands`](crate::perf::commands) describes the commands, and the counters that the board has to
//! supply. Upcall 0, of command 8, is the only upcall; there is no buffer to allow.
//!
//! Usage
//! -----
//!
//! This file is `capsules/extra/src/perf.rs`; put `commands.rs` into the folder `perf/` next to it. The
//! board implements `Counters` for its core, and registers the driver at [`DRIVER_NUM`]:
//!
//! ```rust,ignore
//! let perf = static_init!(
//!     capsules_extra::perf::Perf<IbexCounters>,
//!     capsules_extra::perf::Perf::new(
//!         IbexCounters,
//!         board_kernel.create_grant(capsules_extra::perf::DRIVER_NUM, &memory_allocation_cap),
//!     )
//! );
//! ```

pub mod commands;

use commands::{Counters, Reply};
use kernel::grant::{AllowRoCount, AllowRwCount, Grant, UpcallCount};
use kernel::syscall::{CommandReturn, SyscallDriver};
use kernel::{ErrorCode, ProcessId};

pub const DRIVER_NUM: usize = commands::DRIVER_NUMBER as usize;

/// The state that each process has in this driver: its upcall, which the kernel keeps.
type Subscription = Grant<(), UpcallCount<1>, AllowRoCount<0>, AllowRwCount<0>>;

pub struct Perf<C> {
    commands: commands::Perf<C>,
    subscription: Subscription,
}

impl<C: Counters> Perf<C> {
    pub fn new(counters: C, subscription: Subscription) -> Self {
        Self {
            commands: commands::Perf::new(counters),
            subscription,
        }
    }

    /// A separate function, so that reading a counter does not save the registers that this one needs.
    #[inline(never)]
    fn schedule(&self, process: ProcessId, arguments: (usize, usize, usize)) -> CommandReturn {
        let scheduled = self
            .subscription
            .enter(process, |_, upcalls| upcalls.schedule_upcall(0, arguments));
        match scheduled {
            Ok(Ok(())) => CommandReturn::success(),
            Ok(Err(_)) => CommandReturn::failure(ErrorCode::NOMEM), // its queue is full
            Err(error) => CommandReturn::from(error),
        }
    }
}

impl<C: Counters> SyscallDriver for Perf<C> {
    fn command(
        &self,
        number: usize,
        argument: usize,
        _: usize,
        process: ProcessId,
    ) -> CommandReturn {
        match self.commands.command(number as u32, argument as u32) {
            Reply::Success => CommandReturn::success(),
            Reply::U32(value) => CommandReturn::success_u32(value),
            Reply::Pair(first, second) => CommandReturn::success_u32_u32(first, second),
            Reply::U64(value) => CommandReturn::success_u64(value),
            Reply::Upcall(cycles, instructions, argument) => self.schedule(
                process,
                (cycles as usize, instructions as usize, argument as usize),
            ),
            Reply::NoSupport => CommandReturn::failure(ErrorCode::NOSUPPORT),
        }
    }

    fn allocate_grant(&self, process: ProcessId) -> Result<(), kernel::process::Error> {
        self.subscription.enter(process, |_, _| {})
    }
}
