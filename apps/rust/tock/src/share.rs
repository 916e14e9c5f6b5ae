// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Buffers and upcalls for the duration of a scope: when [`scope`] returns or unwinds, it has taken them back
//! from the kernel. All of this is for the compiler; at run time only the calls that take things back remain.
//!
//! ```
//! use std::cell::Cell;
//! use tock::{AllowRw, ErrorCode, Kernel, Subscribe, Syscalls, share};
//! # use tock::fake;
//! # fake::driver(0x99, |number, length, _| {
//! #     fake::write(0x99, 3, &[7; 4]);
//! #     fake::schedule(0x99, 5, [0, 4, 0]);
//! #     fake::Answer::Done
//! # });
//!
//! let mut buffer = [0; 16];
//! let arrived = Cell::new(None);
//! share::scope::<(AllowRw<_, 0x99, 3>, Subscribe<_, 0x99, 5>), _, _>(|handle| {
//!     let (allow, subscribe) = handle.split();
//!     Kernel::allow_rw(allow, &mut buffer)?;
//!     Kernel::subscribe(subscribe, &arrived)?;
//!     Kernel::command(0x99, 1, 16, 0).to_result::<(), ErrorCode>()?;
//!     Kernel::yield_wait();
//!     Ok::<_, ErrorCode>(())
//! })
//! .unwrap();
//! assert_eq!(arrived.get(), Some((0, 4)));
//! assert_eq!(buffer[..5], [7, 7, 7, 7, 0]);
//! ```

use core::marker::PhantomData;

use crate::Syscalls;

/// Runs `body` with a handle for everything in the list `L`, then takes back from the kernel what it was
/// given with that handle. `L` is [`Subscribe`], [`AllowRw`], [`AllowRo`] or a tuple of these.
#[inline]
pub fn scope<L: List, Output, F: FnOnce(Handle<'_, L>) -> Output>(body: F) -> Output {
    let list = L::default();
    // `list` stays in this frame, which no other code can access. It is dropped when the body has returned or
    // unwinds, as a handle guarantees.
    body(Handle::to(&list))
}

/// Guarantees that everything in `L` will be taken back. Only [`scope`] makes one.
pub struct Handle<'handle, L: List> {
    list: PhantomData<&'handle L>,
}

impl<'handle, L: List> Handle<'handle, L> {
    /// Makes a handle for a list, or a part of one, that is dropped at its end in any case.
    #[inline(always)]
    fn to(_list: &'handle L) -> Handle<'handle, L> {
        Handle { list: PhantomData }
    }

    /// Makes a handle for each part of a tuple.
    #[inline(always)]
    pub fn split(self) -> L::Handles
    where
        L: Split<'handle>,
    {
        L::split(self)
    }
}

impl<L: List> Clone for Handle<'_, L> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<L: List> Copy for Handle<'_, L> {}

/// Things that [`scope`] can take back.
pub trait List: Default + sealed::Sealed {}

/// A [`List`] with parts.
pub trait Split<'handle>: List {
    /// A handle for each part.
    type Handles;
    #[doc(hidden)]
    fn split(handle: Handle<'handle, Self>) -> Self::Handles;
}

mod sealed {
    pub trait Sealed {}
}

/// A thing that the kernel is given, and the call that takes it back.
macro_rules! shared {
    ($(#[$doc:meta])* $name:ident, $end:ident) => {
        $(#[$doc])*
        ///
        /// The given thing lives at least for `'share`. The lifetime can be made neither
        /// longer nor shorter: otherwise something that dies too early would be accepted.
        pub struct $name<'share, S: Syscalls, const DRIVER: u32, const NUMBER: u32> {
            syscalls: PhantomData<S>,
            share: PhantomData<fn(&'share ()) -> &'share ()>,
        }

        impl<S: Syscalls, const DRIVER: u32, const NUMBER: u32> Default
            for $name<'_, S, DRIVER, NUMBER>
        {
            #[inline(always)]
            fn default() -> Self {
                $name {
                    syscalls: PhantomData,
                    share: PhantomData,
                }
            }
        }

        impl<S: Syscalls, const DRIVER: u32, const NUMBER: u32> Drop
            for $name<'_, S, DRIVER, NUMBER>
        {
            #[inline(always)]
            fn drop(&mut self) {
                S::$end(DRIVER, NUMBER);
            }
        }

        impl<S: Syscalls, const DRIVER: u32, const NUMBER: u32> sealed::Sealed
            for $name<'_, S, DRIVER, NUMBER>
        {
        }

        impl<S: Syscalls, const DRIVER: u32, const NUMBER: u32> List
            for $name<'_, S, DRIVER, NUMBER>
        {
        }
    };
}

shared! {
    /// An upcall of a driver, for [`Syscalls::subscribe`].
    Subscribe, unsubscribe
}
shared! {
    /// A read-write buffer of a driver, for [`Syscalls::allow_rw`].
    AllowRw, unallow_rw
}
#[cfg(not(feature = "abi-v1"))]
shared! {
    /// A read-only buffer of a driver, for [`Syscalls::allow_ro`].
    AllowRo, unallow_ro
}

/// Tuples; their parts are dropped with them.
macro_rules! tuples {
    ($($name:ident)*) => {
        impl<$($name: List),*> sealed::Sealed for ($($name,)*) {}
        impl<$($name: List),*> List for ($($name,)*) {}
        impl<'handle, $($name: List + 'handle),*> Split<'handle> for ($($name,)*) {
            type Handles = ($(Handle<'handle, $name>,)*);
            #[inline(always)]
            fn split(_handle: Handle<'handle, Self>) -> Self::Handles {
                ($(Handle::<$name> { list: PhantomData },)*)
            }
        }
    };
}

tuples!(A);
tuples!(A B);
tuples!(A B C);
tuples!(A B C D);
