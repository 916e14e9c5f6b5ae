// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The measured system calls as a Rust program makes them with a library. These replace the bodies of
//! asm/syscalls.S and asm/upcalls.S when the apps are built with CALLS=tock or LIBTOCK_RS=DIR. Each makes the
//! same calls as its counterpart there, checks the library's result, and returns the same words.
//! runtime/libtock_bodies.c is the same in C.

#[cfg(not(feature = "abi-v1"))]
use core::sync::atomic::AtomicU8;
use core::sync::atomic::{AtomicBool, AtomicU32, Ordering::Relaxed};

use tock::abi;
use tock::runtime::{Given, Marked, Words, Write};

use library::{ErrorCode, Kernel, Syscalls};

#[cfg(feature = "libtock-rs")]
#[path = "calls/libtock_rs.rs"]
mod library;
#[cfg(not(feature = "libtock-rs"))]
#[path = "calls/tock.rs"]
mod library;

#[cfg(not(feature = "libtock-rs"))]
pub use library::brk;

/// The bodies. A body is the one in assembly if the library has no such call.
pub mod bodies {
    pub use crate::rows::bodies::*;
    use tock::runtime::Body;

    tock::stand_ins! {
        tm_syscall_command = Body::new(super::command);
        tm_syscall_command_absent = Body::new(super::command_absent);
        tm_syscall_subscribe = Body::new(super::subscribe);
        tm_syscall_allow_rw = Body::given(super::allow_rw);
        tm_syscall_sbrk = Body::new(super::sbrk);
        tm_upcall_yield_wait = Body::new(super::yield_wait);
        tm_console_write_and_wait = Body::new(super::write_and_wait);
    }
    #[cfg(not(feature = "abi-v1"))]
    tock::stand_ins! {
        tm_syscall_yield_no_wait = Body::new(super::yield_no_wait);
        tm_syscall_allow_ro = Body::given(super::allow_ro);
    }
    #[cfg(not(feature = "libtock-rs"))]
    tock::stand_ins! {
        tm_syscall_memop = Body::new(super::library::memop);
    }
    #[cfg(not(any(feature = "libtock-rs", feature = "abi-v1")))]
    tock::stand_ins! {
        tm_upcall_yield_wait_for = Body::new(super::library::yield_wait_for);
    }
}

/// Returns the words that the kernel returned, given the library's result. Version 1 has one.
fn words(variant: u32, returned: Result<u32, ErrorCode>) -> Words {
    match returned {
        Ok(word) if cfg!(feature = "abi-v1") => Words(word, 0),
        Ok(word) => Words(variant, word),
        Err(error) if cfg!(feature = "abi-v1") => Words((error as u32).wrapping_neg(), 0),
        Err(error) => Words(abi::TOCK_FAILURE, error as u32),
    }
}

/// Returns the words of a call that takes something back. The library checks the kernel's result but does not
/// return what it took back; after a success that is what was given.
fn taken_back(returned: Result<(), ErrorCode>, given: usize) -> Words {
    let given = if cfg!(feature = "abi-v1") { 0 } else { given };
    words(abi::TOCK_SUCCESS_U32_U32, returned.map(|()| given as u32))
}

#[cfg(not(feature = "abi-v1"))]
#[inline(always)]
fn read_both(driver: u32) -> Words {
    let read = Kernel::command(driver, abi::TM_PERF_BOTH, 0, 0).to_result::<(u32, u32), _>();
    words(abi::TOCK_SUCCESS_U32_U32, read.map(|(cycles, _)| cycles))
}

#[cfg(not(feature = "abi-v1"))]
extern "C" fn command(_nothing: u32) -> Words {
    read_both(abi::TM_PERF)
}

#[cfg(not(feature = "abi-v1"))]
extern "C" fn command_absent(_nothing: u32) -> Words {
    read_both(abi::TM_ABSENT_DRIVER)
}

/// In version 1 a counter is returned unchanged: see `Syscalls::command_word`.
#[cfg(feature = "abi-v1")]
extern "C" fn command(_nothing: u32) -> u32 {
    tock::perf::cycles()
}

#[cfg(feature = "abi-v1")]
extern "C" fn command_absent(_nothing: u32) -> Words {
    let read = Kernel::command(abi::TM_ABSENT_DRIVER, abi::TM_PERF_CYCLES, 0, 0);
    words(abi::TOCK_SUCCESS_U32, read.to_result())
}

#[cfg(not(feature = "abi-v1"))]
extern "C" fn yield_no_wait(ran: &'static AtomicU8) -> u32 {
    let answer = Kernel::yield_no_wait() as u8;
    ran.store(answer, Relaxed);
    answer.into()
}

/// The upcall is one of the library's, since its safe call takes no bare function. No upcall comes, so that
/// makes no difference to the kernel.
extern "C" fn subscribe(function: usize) -> Words {
    taken_back(library::subscribe(), function)
}

extern "C" fn allow_rw(mut buffer: Given<'_>) -> Words {
    let bytes = buffer.bytes();
    let address = bytes.as_ptr().addr();
    taken_back(library::allow_rw(bytes), address)
}

#[cfg(not(feature = "abi-v1"))]
extern "C" fn allow_ro(mut buffer: Given<'_>) -> Words {
    let bytes = buffer.bytes();
    taken_back(library::allow_ro(bytes), bytes.as_ptr().addr())
}

extern "C" fn sbrk(_nothing: u32) -> Words {
    let moved = Kernel::memop_increment_brk(8);
    words(abi::TOCK_SUCCESS_U32, moved.map(|was| was.addr() as u32))
}

/// The assembly upcall counts: a library's upcalls are taken back before a body returns.
extern "C" fn yield_wait(upcalls: &'static AtomicU32) -> u32 {
    upcalls.store(0, Relaxed);
    let scheduled = Kernel::command(abi::TM_PERF, abi::TM_PERF_UPCALL, 0, 0);
    if !scheduled.is_success() {
        return 0;
    }
    Kernel::yield_wait();
    upcalls.load(Relaxed)
}

extern "C" fn write_and_wait(write: &'static Write) -> u32 {
    write.upcalls.store(0, Relaxed);
    let length = write.length.load(Relaxed);
    let begun = Kernel::command(abi::TOCK_CONSOLE, abi::TOCK_CONSOLE_WRITE, length, 0);
    if !begun.is_success() {
        return 0;
    }
    Kernel::yield_wait();
    write.upcalls.load(Relaxed)
}

/// Sets the alarm and sleeps until its upcall, this one, has run and set `rang`.
pub fn ring_after(ticks: u32, upcall: Marked, rang: &AtomicBool) -> Result<(), tock::ErrorCode> {
    library::ring_after(ticks, upcall, || {
        while !rang.load(Relaxed) {
            Kernel::yield_wait();
        }
    })
}
