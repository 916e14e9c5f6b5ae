// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The calls whose form depends on the library, with libtock-rs: the user's copy, which is only in the
//! manifest that apps/rust/build.mk makes.

use core::cell::Cell;

use libtock_platform::subscribe::OneId;
use libtock_platform::{AllowRo, AllowRw, DefaultConfig, Subscribe, Upcall, share};
pub use libtock_platform::{ErrorCode, Syscalls};
pub use libtock_runtime::TockSyscalls as Kernel;
use tock::abi::{
    TOCK_ALARM, TOCK_ALARM_AFTER, TOCK_ALARM_UPCALL, TOCK_CONSOLE, TOCK_CONSOLE_WRITE,
};
use tock::runtime::Marked;

pub fn subscribe() -> Result<(), ErrorCode> {
    let written = Cell::new(false);
    share::scope::<Subscribe<'_, _, TOCK_CONSOLE, TOCK_CONSOLE_WRITE>, _, _>(|handle| {
        Kernel::subscribe::<_, _, DefaultConfig, TOCK_CONSOLE, TOCK_CONSOLE_WRITE>(handle, &written)
    })
}

pub fn allow_rw(buffer: &mut [u8]) -> Result<(), ErrorCode> {
    share::scope::<AllowRw<'_, _, TOCK_CONSOLE, TOCK_CONSOLE_WRITE>, _, _>(|handle| {
        Kernel::allow_rw::<DefaultConfig, TOCK_CONSOLE, TOCK_CONSOLE_WRITE>(handle, buffer)
    })
}

pub fn allow_ro(buffer: &[u8]) -> Result<(), ErrorCode> {
    share::scope::<AllowRo<'_, _, TOCK_CONSOLE, TOCK_CONSOLE_WRITE>, _, _>(|handle| {
        Kernel::allow_ro::<DefaultConfig, TOCK_CONSOLE, TOCK_CONSOLE_WRITE>(handle, buffer)
    })
}

/// The alarm's upcall, which the library calls for the kernel.
struct Ring(Marked);

impl Upcall<OneId<TOCK_ALARM, TOCK_ALARM_UPCALL>> for Ring {
    fn upcall(&self, now: u32, due: u32, third: u32) {
        (self.0)(now, due, third, 0);
    }
}

pub fn ring_after(ticks: u32, upcall: Marked, wait: impl Fn()) -> Result<(), tock::ErrorCode> {
    let upcall = Ring(upcall);
    let rang = share::scope::<Subscribe<'_, _, TOCK_ALARM, TOCK_ALARM_UPCALL>, _, _>(|handle| {
        Kernel::subscribe::<_, _, DefaultConfig, TOCK_ALARM, TOCK_ALARM_UPCALL>(handle, &upcall)?;
        Kernel::command(TOCK_ALARM, TOCK_ALARM_AFTER, ticks, 0).to_result::<u32, ErrorCode>()?;
        wait();
        Ok(())
    });
    rang.map_err(|error: ErrorCode| {
        tock::ErrorCode::try_from(error as u32).unwrap_or(tock::ErrorCode::BadRVal)
    })
}
