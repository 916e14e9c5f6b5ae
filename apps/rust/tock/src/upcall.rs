// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The types that can be subscribed, and the function through which the kernel calls them.

use core::cell::Cell;
use core::sync::atomic::{AtomicBool, Ordering};

use crate::raw::Register;

/// A function that the kernel can call during a yield. It is also called when another upcall, or the code
/// around it, yields. So its state is behind a shared reference, in a `Cell` or an atomic.
pub trait Upcall {
    /// Handles the driver's three words.
    fn upcall(&self, first: u32, second: u32, third: u32);
}

impl<F: Fn(u32, u32, u32)> Upcall for F {
    #[inline]
    fn upcall(&self, first: u32, second: u32, third: u32) {
        self(first, second, third);
    }
}

/// Records that the upcall came.
impl Upcall for Cell<bool> {
    #[inline]
    fn upcall(&self, _first: u32, _second: u32, _third: u32) {
        self.set(true);
    }
}

/// Records that the upcall came. Since this is `Sync`, it can be a `static`.
impl Upcall for AtomicBool {
    #[inline]
    fn upcall(&self, _first: u32, _second: u32, _third: u32) {
        self.store(true, Ordering::Relaxed);
    }
}

/// Keeps the first words of the last upcall.
macro_rules! keeps {
    ($type:ty, $first:ident $second:ident $third:ident => $value:expr) => {
        impl Upcall for Cell<Option<$type>> {
            #[inline]
            fn upcall(&self, $first: u32, $second: u32, $third: u32) {
                self.set(Some($value));
            }
        }
    };
}

keeps!((), _a _b _c => ());
keeps!((u32,), a _b _c => (a,));
keeps!((u32, u32), a b _c => (a, b));
keeps!((u32, u32, u32), a b c => (a, b, c));

/// Runs the upcall at `data`. As an `extern "C"` function it does not unwind into the kernel: a panic in it
/// ends the app.
///
/// # Safety
///
/// `data` is the address of a `U` that lives.
pub(crate) unsafe extern "C" fn run<U: Upcall>(
    first: Register,
    second: Register,
    third: Register,
    data: Register,
) {
    // SAFETY: as the caller guarantees. The reference is shared, like the subscribed one.
    let upcall = unsafe { &*data.as_ptr::<U>() };
    upcall.upcall(first.as_u32(), second.as_u32(), third.as_u32());
}
