// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The system calls as safe functions. Memory for the kernel lives long enough because of a handle of
//! [`crate::share::scope`], or because it lives for ever (`…_static`).

use core::ptr;
use core::sync::atomic::{AtomicU8, AtomicU16, AtomicU32};

use crate::abi;
use crate::error::ErrorCode;
use crate::raw::{RawSyscalls, Register, Returned, UpcallFunction};
use crate::returned::CommandReturn;
#[cfg(not(feature = "abi-v1"))]
use crate::share::AllowRo;
use crate::share::{AllowRw, Handle, Subscribe};
use crate::upcall::{self, Upcall};

#[cfg(feature = "abi-v1")]
use crate::abi::TOCK_ALLOW as ALLOW_RW;
#[cfg(not(feature = "abi-v1"))]
use crate::abi::{TOCK_ALLOW_RO as ALLOW_RO, TOCK_ALLOW_RW as ALLOW_RW};

/// The index of a success's first word.
const VALUE: usize = if cfg!(feature = "abi-v1") { 0 } else { 1 };

/// Memory that others may write while this program has a reference to it: it consists of atomics.
///
/// # Safety
///
/// Every byte is inside an atomic, and all its values are valid.
pub unsafe trait Shareable {}

// SAFETY: all values of an atomic integer are valid.
unsafe impl Shareable for AtomicU8 {}
// SAFETY: as above.
unsafe impl Shareable for AtomicU16 {}
// SAFETY: as above.
unsafe impl Shareable for AtomicU32 {}
// SAFETY: a slice consists of its elements.
unsafe impl<T: Shareable> Shareable for [T] {}
// SAFETY: an array consists of its elements.
unsafe impl<T: Shareable, const N: usize> Shareable for [T; N] {}

/// Did an upcall run?
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum YieldNoWaitReturn {
    NoUpcall,
    Upcall,
}

/// The safe system calls of an implementation: [`crate::Kernel`].
///
/// Unless a function documents its errors, they are the kernel's.
pub trait Syscalls: RawSyscalls {
    /// Sleeps until an upcall has run.
    #[inline(always)]
    fn yield_wait() {
        // SAFETY: subscribed functions are sound to call: see `subscribe`.
        #[cfg(feature = "abi-v1")]
        unsafe {
            Self::yield0();
        }
        // SAFETY: as above, and TRD 104 defines this argument.
        #[cfg(not(feature = "abi-v1"))]
        unsafe {
            Self::yield1([abi::TOCK_YIELD_WAIT.into()]);
        }
    }

    /// Runs a pending upcall, if there is one.
    #[cfg(not(feature = "abi-v1"))]
    #[inline(always)]
    fn yield_no_wait() -> YieldNoWaitReturn {
        let mut ran = 0u8;
        let kind = abi::TOCK_YIELD_NO_WAIT.into();
        // SAFETY: subscribed functions are sound to call, and the kernel writes one byte, which is ours.
        unsafe { Self::yield2([kind, (&raw mut ran).into()]) };
        match ran {
            0 => YieldNoWaitReturn::NoUpcall,
            _ => YieldNoWaitReturn::Upcall,
        }
    }

    /// Sleeps until this upcall is due, and returns its words; no function runs. Other upcalls wait. A kernel
    /// before Tock 2.2 does not have this call, and returns at once with other words.
    #[cfg(not(feature = "abi-v1"))]
    #[inline(always)]
    fn yield_wait_for(driver: u32, number: u32) -> (u32, u32, u32) {
        let kind = abi::TOCK_YIELD_WAIT_FOR.into();
        // SAFETY: TRD 104 defines these arguments, and no upcall runs.
        let [a, b, c] = unsafe { Self::yield3([kind, driver.into(), number.into()]) };
        (a.as_u32(), b.as_u32(), c.as_u32())
    }

    /// Makes a command of a driver.
    #[inline(always)]
    fn command(driver: u32, number: u32, first: u32, second: u32) -> CommandReturn {
        command_returned::<Self>(driver, number, first, second).into()
    }

    /// Makes a command that returns one word and cannot fail. In version 1 that word is returned unchanged: a
    /// counter or a time in the upper half of its range looks like an error.
    #[inline(always)]
    fn command_word(driver: u32, number: u32, first: u32, second: u32) -> u32 {
        command_returned::<Self>(driver, number, first, second)[VALUE].as_u32()
    }

    /// Subscribes an upcall until the handle's scope ends.
    #[inline(always)]
    fn subscribe<'share, U: Upcall, const DRIVER: u32, const NUMBER: u32>(
        _handle: Handle<'_, Subscribe<'share, Self, DRIVER, NUMBER>>,
        upcall: &'share U,
    ) -> Result<(), ErrorCode> {
        // SAFETY: the upcall lives for 'share, and the handle guarantees that it is taken back before.
        unsafe { subscribe_upcall::<Self, U>(DRIVER, NUMBER, upcall) }
    }

    /// Subscribes an upcall until it is taken back.
    #[inline(always)]
    fn subscribe_static<U: Upcall>(
        driver: u32,
        number: u32,
        upcall: &'static U,
    ) -> Result<(), ErrorCode> {
        // SAFETY: the upcall lives for ever.
        unsafe { subscribe_upcall::<Self, U>(driver, number, upcall) }
    }

    /// Takes an upcall back. Pending calls of it are dropped.
    #[inline(always)]
    fn unsubscribe(driver: u32, number: u32) {
        let call = [driver.into(), number.into(), Register::NULL, Register::NULL];
        // SAFETY: no function is subscribed. The call cannot fail for a driver with a subscribed upcall, and
        // other drivers have none.
        unsafe { Self::syscall4::<{ abi::TOCK_SUBSCRIBE }>(call) };
    }

    /// Lets a driver read a buffer until the handle's scope ends. Version 1 has one allow, with which a
    /// driver can also write.
    #[cfg(not(feature = "abi-v1"))]
    #[inline(always)]
    fn allow_ro<'share, const DRIVER: u32, const NUMBER: u32>(
        _handle: Handle<'_, AllowRo<'share, Self, DRIVER, NUMBER>>,
        buffer: &'share [u8],
    ) -> Result<(), ErrorCode> {
        // SAFETY: the buffer is not written for 'share, and the handle guarantees that it is taken back
        // before.
        unsafe { allow::<Self, ALLOW_RO>(DRIVER, NUMBER, buffer.as_ptr().into(), buffer.len()) }
    }

    /// Lets a driver read a buffer until it is taken back.
    #[cfg(not(feature = "abi-v1"))]
    #[inline(always)]
    fn allow_ro_static(driver: u32, number: u32, buffer: &'static [u8]) -> Result<(), ErrorCode> {
        // SAFETY: the buffer is never written.
        unsafe { allow::<Self, ALLOW_RO>(driver, number, buffer.as_ptr().into(), buffer.len()) }
    }

    /// Takes a read-only buffer back.
    #[cfg(not(feature = "abi-v1"))]
    #[inline(always)]
    fn unallow_ro(driver: u32, number: u32) {
        // SAFETY: no memory is allowed. The call cannot fail if a buffer was allowed.
        let _ = unsafe { allow::<Self, ALLOW_RO>(driver, number, Register::NULL, 0) };
    }

    /// Lets a driver read and write a buffer until the handle's scope ends. The driver cannot be IPC, which
    /// opens the buffer to another process, and Tock never closes it again. Use [`crate::ipc::share`] for
    /// that.
    #[inline(always)]
    fn allow_rw<'share, const DRIVER: u32, const NUMBER: u32>(
        _handle: Handle<'_, AllowRw<'share, Self, DRIVER, NUMBER>>,
        buffer: &'share mut [u8],
    ) -> Result<(), ErrorCode> {
        const { assert!(DRIVER != abi::TOCK_IPC, "memory shared by IPC is static") };
        let length = buffer.len();
        // SAFETY: nothing else accesses the buffer for 'share, and the handle guarantees that it is taken
        // back before.
        unsafe { allow::<Self, ALLOW_RW>(DRIVER, NUMBER, buffer.as_mut_ptr().into(), length) }
    }

    /// Lets a driver read and write memory until it is taken back. It consists of atomics, so it may change
    /// at any time.
    #[inline(always)]
    fn allow_rw_static<M: Shareable + ?Sized>(
        driver: u32,
        number: u32,
        memory: &'static M,
    ) -> Result<(), ErrorCode> {
        let start = ptr::from_ref(memory).cast::<u8>();
        // SAFETY: the memory lives for ever and consists of atomics.
        unsafe { allow::<Self, ALLOW_RW>(driver, number, start.into(), size_of_val(memory)) }
    }

    /// Takes a read-write buffer back.
    #[inline(always)]
    fn unallow_rw(driver: u32, number: u32) {
        // SAFETY: no memory is allowed. The call cannot fail if a buffer was allowed.
        let _ = unsafe { allow::<Self, ALLOW_RW>(driver, number, Register::NULL, 0) };
    }

    /// Moves the break, the end of the app's memory, to an address. [`crate::memory::Break`] is the safe way.
    ///
    /// # Safety
    ///
    /// No memory from there on is in use.
    #[inline(always)]
    unsafe fn memop_brk(address: *const u8) -> Result<(), ErrorCode> {
        let call = [abi::TOCK_MEMOP_BRK.into(), address.into()];
        // SAFETY: as the caller guarantees.
        CommandReturn::from(unsafe { Self::syscall2::<{ abi::TOCK_MEMOP }>(call) }).check()
    }

    /// Moves the break by this many bytes, and returns its previous address.
    ///
    /// # Safety
    ///
    /// If it moves down, no memory from the new break on is in use.
    #[inline(always)]
    unsafe fn memop_sbrk(bytes: i32) -> Result<*mut u8, ErrorCode> {
        let call = [abi::TOCK_MEMOP_SBRK.into(), bytes.cast_unsigned().into()];
        // SAFETY: as the caller guarantees.
        let returned = unsafe { Self::syscall2::<{ abi::TOCK_MEMOP }>(call) };
        CommandReturn::from(returned).check()?;
        Ok(returned[VALUE].as_ptr())
    }

    /// Moves the break up by this many bytes, and returns its previous address: the start of memory that now
    /// belongs to the app.
    ///
    /// # Errors
    ///
    /// The kernel's; INVAL for 2 GiB and more.
    #[inline(always)]
    fn memop_increment_brk(bytes: u32) -> Result<*mut u8, ErrorCode> {
        let bytes = i32::try_from(bytes).map_err(|_| ErrorCode::Invalid)?;
        // SAFETY: the break does not move down.
        unsafe { Self::memop_sbrk(bytes) }
    }

    /// The address where the app's flash starts.
    #[inline(always)]
    fn memop_flash_start() -> Result<usize, ErrorCode> {
        let call = [abi::TOCK_MEMOP_FLASH_START.into()];
        // SAFETY: the call changes nothing.
        let returned = unsafe { Self::syscall1::<{ abi::TOCK_MEMOP }>(call) };
        CommandReturn::from(returned).check()?;
        Ok(returned[VALUE].as_usize())
    }

    /// Ends the app with a completion code. Version 1 has no exit: the app waits for ever.
    #[inline]
    fn exit_terminate(code: u32) -> ! {
        #[cfg(not(feature = "abi-v1"))]
        exit::<Self>(abi::TOCK_EXIT_TERMINATE, code);
        #[cfg(feature = "abi-v1")]
        exit::<Self>(code)
    }

    /// Ends the app with a completion code and restarts it. Version 1 has no exit: the app waits for ever.
    #[inline]
    fn exit_restart(code: u32) -> ! {
        #[cfg(not(feature = "abi-v1"))]
        exit::<Self>(abi::TOCK_EXIT_RESTART, code);
        #[cfg(feature = "abi-v1")]
        exit::<Self>(code)
    }
}

impl<S: RawSyscalls> Syscalls for S {}

#[inline(always)]
fn command_returned<S: RawSyscalls>(driver: u32, number: u32, first: u32, second: u32) -> Returned {
    let call = [driver.into(), number.into(), first.into(), second.into()];
    // SAFETY: a command has only numbers; the memory that it uses was allowed before.
    unsafe { S::syscall4::<{ abi::TOCK_COMMAND }>(call) }
}

/// # Safety
///
/// The upcall lives until another one replaces it.
#[inline(always)]
unsafe fn subscribe_upcall<S: RawSyscalls, U: Upcall>(
    driver: u32,
    number: u32,
    upcall: &U,
) -> Result<(), ErrorCode> {
    let data = ptr::from_ref(upcall).into();
    // SAFETY: `run` is sound with the address of a `U`, and `data` is one.
    unsafe { subscribe_function::<S>(driver, number, upcall::run::<U>, data) }
}

/// # Safety
///
/// The function is sound to call with `data` until another one replaces it.
#[inline(always)]
pub(crate) unsafe fn subscribe_function<S: RawSyscalls>(
    driver: u32,
    number: u32,
    function: UpcallFunction,
    data: Register,
) -> Result<(), ErrorCode> {
    let function = Register::from(function as *const ());
    let call = [driver.into(), number.into(), function, data];
    // SAFETY: as the caller guarantees.
    CommandReturn::from(unsafe { S::syscall4::<{ abi::TOCK_SUBSCRIBE }>(call) }).check()
}

/// # Safety
///
/// Until another buffer replaces it, the memory lives and is not written. If the class is not the one of
/// read-only buffers, it is not read either, unless it consists of atomics.
#[inline(always)]
pub(crate) unsafe fn allow<S: RawSyscalls, const CLASS: u32>(
    driver: u32,
    number: u32,
    start: Register,
    length: usize,
) -> Result<(), ErrorCode> {
    let call = [driver.into(), number.into(), start, length.into()];
    // SAFETY: as the caller guarantees.
    CommandReturn::from(unsafe { S::syscall4::<CLASS>(call) }).check()
}

#[cfg(not(feature = "abi-v1"))]
fn exit<S: RawSyscalls>(kind: u32, code: u32) -> ! {
    loop {
        // SAFETY: this ends the app and accesses none of its memory.
        unsafe { S::syscall2::<{ abi::TOCK_EXIT }>([kind.into(), code.into()]) };
    }
}

#[cfg(feature = "abi-v1")]
fn exit<S: RawSyscalls>(_code: u32) -> ! {
    loop {
        S::yield_wait();
    }
}
