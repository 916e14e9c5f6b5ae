// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The alarm, one per process. Its upcall may come at any later yield.

use core::cell::Cell;

use crate::abi::{TOCK_ALARM, TOCK_ALARM_FREQUENCY, TOCK_ALARM_NOW, TOCK_ALARM_UPCALL};
use crate::share;
use crate::{ErrorCode, Kernel, Syscalls, Upcall};

/// The alarm's upcall, for [`Syscalls::subscribe`]. It gets the time in ticks at which the alarm was due.
pub type Subscribe<'share> = crate::Subscribe<'share, Kernel, TOCK_ALARM, TOCK_ALARM_UPCALL>;

/// Returns the ticks per second.
#[inline]
pub fn frequency() -> Result<u32, ErrorCode> {
    Kernel::command(TOCK_ALARM, TOCK_ALARM_FREQUENCY, 0, 0).to_result()
}

/// Returns the time in ticks, low half.
#[inline]
pub fn now() -> u32 {
    Kernel::command_word(TOCK_ALARM, TOCK_ALARM_NOW, 0, 0)
}

/// Sets the alarm `ticks` from now. In version 1 this cannot fail: the kernel's result may be the time,
/// and times in the upper half of the range look like errors. Version 1 takes an absolute time. If that has
/// passed when the kernel gets it, after a few ticks, the alarm comes a whole wrap of the clock later.
#[inline]
pub fn after(ticks: u32) -> Result<(), ErrorCode> {
    #[cfg(not(feature = "abi-v1"))]
    return Kernel::command(TOCK_ALARM, crate::abi::TOCK_ALARM_AFTER, ticks, 0).check();
    #[cfg(feature = "abi-v1")]
    {
        let due = now().wrapping_add(ticks);
        let _ = Kernel::command(TOCK_ALARM, crate::abi::TOCK_ALARM_AT, due, 0);
        Ok(())
    }
}

/// Subscribes an upcall to the alarm until it is taken back.
#[inline]
pub fn subscribe_static<U: Upcall>(upcall: &'static U) -> Result<(), ErrorCode> {
    Kernel::subscribe_static(TOCK_ALARM, TOCK_ALARM_UPCALL, upcall)
}

/// Takes the alarm's upcall back.
#[inline]
pub fn unsubscribe() {
    Kernel::unsubscribe(TOCK_ALARM, TOCK_ALARM_UPCALL);
}

/// Sleeps for at least this many milliseconds; upcalls run meanwhile.
pub fn nap(milliseconds: u32) -> Result<(), ErrorCode> {
    let over = Cell::new(false);
    let ticks = (frequency()? / 1000)
        .wrapping_mul(milliseconds)
        .wrapping_add(1);
    share::scope::<Subscribe<'_>, _, _>(|handle| {
        Kernel::subscribe(handle, &over)?;
        after(ticks)?;
        while !over.get() {
            Kernel::yield_wait();
        }
        Ok(())
    })
}
