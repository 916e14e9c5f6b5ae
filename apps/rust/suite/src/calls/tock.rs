// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The calls whose form depends on the library, with the crate tock.

use core::cell::Cell;

#[cfg(not(feature = "abi-v1"))]
use tock::AllowRo;
use tock::abi::{self, TOCK_CONSOLE, TOCK_CONSOLE_WRITE};
use tock::memory::Break;
use tock::runtime::{Marked, Words};
use tock::{AllowRw, Subscribe, alarm, share};
pub use tock::{ErrorCode, Kernel, Syscalls};

use super::words;

#[inline(always)]
pub fn subscribe() -> Result<(), ErrorCode> {
    let written = Cell::new(false);
    share::scope::<Subscribe<'_, _, TOCK_CONSOLE, TOCK_CONSOLE_WRITE>, _, _>(|handle| {
        Kernel::subscribe(handle, &written)
    })
}

#[inline(always)]
pub fn allow_rw(buffer: &mut [u8]) -> Result<(), ErrorCode> {
    share::scope::<AllowRw<'_, _, TOCK_CONSOLE, TOCK_CONSOLE_WRITE>, _, _>(|handle| {
        Kernel::allow_rw(handle, buffer)
    })
}

#[cfg(not(feature = "abi-v1"))]
#[inline(always)]
pub fn allow_ro(buffer: &[u8]) -> Result<(), ErrorCode> {
    share::scope::<AllowRo<'_, _, TOCK_CONSOLE, TOCK_CONSOLE_WRITE>, _, _>(|handle| {
        Kernel::allow_ro(handle, buffer)
    })
}

pub extern "C" fn memop(_nothing: u32) -> Words {
    let start = Kernel::memop_flash_start();
    words(abi::TOCK_SUCCESS_U32, start.map(|start| start as u32))
}

/// Moves the break to STEP bytes above its base.
pub extern "C" fn brk<const STEP: usize>(end: &mut Break) -> Words {
    let moved = end.brk(end.base() + STEP);
    words(abi::TOCK_SUCCESS, moved.map(|()| 0))
}

#[cfg(not(feature = "abi-v1"))]
pub extern "C" fn yield_wait_for(_nothing: u32) -> u32 {
    match tock::perf::schedule_upcall(42) {
        Ok(()) => tock::perf::wait_for_upcall().2,
        Err(_) => 0,
    }
}

pub fn ring_after(ticks: u32, upcall: Marked, wait: impl Fn()) -> Result<(), ErrorCode> {
    let upcall = move |now, due, third| upcall(now, due, third, 0);
    share::scope::<alarm::Subscribe<'_>, _, _>(|handle| {
        Kernel::subscribe(handle, &upcall)?;
        alarm::after(ticks)?;
        wait();
        Ok(())
    })
}
