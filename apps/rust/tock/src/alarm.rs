// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The alarm, one a process. Its upcall may come at any later yield.

use core::cell::Cell;

use crate::abi::{TOCK_ALARM, TOCK_ALARM_FREQUENCY, TOCK_ALARM_NOW, TOCK_ALARM_UPCALL};
use crate::share;
use crate::{ErrorCode, Kernel, Syscalls, Upcall};

/// The alarm's upcall, for [`Syscalls::subscribe`]: the time in ticks when it was due comes with it.
pub type Subscribe<'share> = crate::Subscribe<'share, Kernel, TOCK_ALARM, TOCK_ALARM_UPCALL>;

/// How many ticks a second has.
#[inline]
pub fn frequency() -> Result<u32, ErrorCode> {
    Kernel::command(TOCK_ALARM, TOCK_ALARM_FREQUENCY, 0, 0).to_result()
}

/// The time in ticks, low half.
#[inline]
pub fn now() -> u32 {
    Kernel::command_word(TOCK_ALARM, TOCK_ALARM_NOW, 0, 0)
}

/// Sets the alarm, so many ticks from now. On version 1 this cannot fail: the kernel's answer may
/// be the time, which looks like an error from half of its range on. There the kernel is told a
/// time: one that has passed when it hears of it, after a few ticks, comes a whole round later.
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

/// Subscribes an upcall of the alarm's until it is taken back.
#[inline]
pub fn subscribe_static<U: Upcall>(upcall: &'static U) -> Result<(), ErrorCode> {
    Kernel::subscribe_static(TOCK_ALARM, TOCK_ALARM_UPCALL, upcall)
}

/// Takes the alarm's upcall back.
#[inline]
pub fn unsubscribe() {
    Kernel::unsubscribe(TOCK_ALARM, TOCK_ALARM_UPCALL);
}

/// Sleeps for at least so many milliseconds; upcalls run meanwhile.
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
