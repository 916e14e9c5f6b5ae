// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Code that the compiler refuses, each next to code that it accepts. The kernel only gets an address: in C
//! all of these compile, and the kernel writes to memory that now has another use.
//!
//! # Buffers
//!
//! The kernel has a buffer until the scope ends, so the buffer must live as long.
//!
//! ```
//! # #![allow(unused)]
//! # use tock::{AllowRw, Kernel, Subscribe, Syscalls, ipc, memory, share};
//! let mut buffer = [0; 8];
//! share::scope::<AllowRw<_, 0x99, 3>, _, _>(|handle| {
//!     Kernel::allow_rw(handle, &mut buffer).unwrap();
//!     Kernel::command(0x99, 1, 0, 0)
//! });
//! let read = buffer[0];
//! ```
//!
//! A buffer that dies earlier, inside the scope:
//!
//! ```compile_fail,E0597
//! # #![allow(unused)]
//! # use tock::{AllowRw, Kernel, Subscribe, Syscalls, ipc, memory, share};
//! share::scope::<AllowRw<_, 0x99, 3>, _, _>(|handle| {
//!     let mut buffer = [0; 8];
//!     Kernel::allow_rw(handle, &mut buffer).unwrap();
//!     Kernel::command(0x99, 1, 0, 0)
//! });
//! ```
//!
//! A buffer that is read while the kernel may write it:
//!
//! ```compile_fail,E0503
//! # #![allow(unused)]
//! # use tock::{AllowRw, Kernel, Subscribe, Syscalls, ipc, memory, share};
//! let mut buffer = [0; 8];
//! share::scope::<AllowRw<_, 0x99, 3>, _, _>(|handle| {
//!     Kernel::allow_rw(handle, &mut buffer).unwrap();
//!     let read = buffer[0];
//! });
//! ```
//!
//! A buffer that moves while the kernel may write it:
//!
//! ```compile_fail,E0505
//! # #![allow(unused)]
//! # use tock::{AllowRw, Kernel, Subscribe, Syscalls, ipc, memory, share};
//! let mut buffer = vec![0; 8];
//! share::scope::<AllowRw<_, 0x99, 3>, _, _>(|handle| {
//!     Kernel::allow_rw(handle, &mut buffer).unwrap();
//!     let moved = buffer;
//! });
//! ```
//!
//! A buffer that is allowed twice, to two drivers:
//!
//! ```compile_fail,E0499
//! # #![allow(unused)]
//! # use tock::{AllowRw, Kernel, Subscribe, Syscalls, ipc, memory, share};
//! let mut buffer = [0; 8];
//! share::scope::<(AllowRw<_, 0x99, 3>, AllowRw<_, 0x98, 3>), _, _>(|handle| {
//!     let (one, other) = handle.split();
//!     Kernel::allow_rw(one, &mut buffer).unwrap();
//!     Kernel::allow_rw(other, &mut buffer).unwrap();
//! });
//! ```
//!
//! A buffer that another process has for ever, since Tock never closes what IPC has opened:
//!
//! ```compile_fail,E0080
//! # #![allow(unused)]
//! # use tock::{AllowRw, Kernel, Subscribe, Syscalls, ipc, memory, share};
//! let mut buffer = [0; 8];
//! share::scope::<AllowRw<_, { tock::abi::TOCK_IPC }, 1>, _, _>(|handle| {
//!     Kernel::allow_rw(handle, &mut buffer).unwrap();
//! });
//! ```
//!
//! # Upcalls
//!
//! The kernel calls an upcall until the scope ends, so the upcall and its state must live as long.
//!
//! ```
//! # #![allow(unused)]
//! # use tock::{AllowRw, Kernel, Subscribe, Syscalls, ipc, memory, share};
//! # use std::cell::Cell;
//! let count = Cell::new(0);
//! let upcall = |_, _, _| count.set(count.get() + 1);
//! share::scope::<Subscribe<_, 0x99, 5>, _, _>(|handle| {
//!     Kernel::subscribe(handle, &upcall).unwrap();
//! });
//! ```
//!
//! A closure that dies earlier:
//!
//! ```compile_fail,E0597
//! # #![allow(unused)]
//! # use tock::{AllowRw, Kernel, Subscribe, Syscalls, ipc, memory, share};
//! # use std::cell::Cell;
//! let count = Cell::new(0);
//! share::scope::<Subscribe<_, 0x99, 5>, _, _>(|handle| {
//!     let upcall = |_, _, _| count.set(count.get() + 1);
//!     Kernel::subscribe(handle, &upcall).unwrap();
//! });
//! ```
//!
//! A closure that outlives its state:
//!
//! ```compile_fail,E0373
//! # #![allow(unused)]
//! # use tock::{AllowRw, Kernel, Subscribe, Syscalls, ipc, memory, share};
//! # use std::cell::Cell;
//! let upcall;
//! {
//!     let count = Cell::new(0);
//!     upcall = |_, _, _| count.set(count.get() + 1);
//! }
//! share::scope::<Subscribe<_, 0x99, 5>, _, _>(|handle| {
//!     Kernel::subscribe(handle, &upcall).unwrap();
//! });
//! ```
//!
//! A closure that needs exclusive access to its state: an upcall may run while another one does.
//!
//! ```compile_fail,E0525
//! # #![allow(unused)]
//! # use tock::{AllowRw, Kernel, Subscribe, Syscalls, ipc, memory, share};
//! let mut count = 0;
//! let upcall = |_, _, _| count += 1;
//! share::scope::<Subscribe<_, 0x99, 5>, _, _>(|handle| {
//!     Kernel::subscribe(handle, &upcall).unwrap();
//! });
//! ```
//!
//! # Handles
//!
//! A handle guarantees that its scope takes back what the handle is used for.
//!
//! A handle that is moved out of its scope, to be used when nothing is taken back any more:
//!
//! ```compile_fail,E0521
//! # #![allow(unused)]
//! # use tock::{AllowRw, Kernel, Subscribe, Syscalls, ipc, memory, share};
//! let mut kept = None;
//! share::scope::<Subscribe<Kernel, 0x99, 5>, _, _>(|handle| {
//!     kept = Some(handle);
//! });
//! ```
//!
//! A handle that is made without a scope:
//!
//! ```compile_fail,E0451
//! # #![allow(unused)]
//! # use tock::{AllowRw, Kernel, Subscribe, Syscalls, ipc, memory, share};
//! let handle = share::Handle::<Subscribe<Kernel, 0x99, 5>> {
//!     list: std::marker::PhantomData,
//! };
//! ```
//!
//! A handle for something else:
//!
//! ```compile_fail,E0308
//! # #![allow(unused)]
//! # use tock::{AllowRw, Kernel, Subscribe, Syscalls, ipc, memory, share};
//! let mut buffer = [0; 8];
//! share::scope::<Subscribe<_, 0x99, 5>, _, _>(|handle| {
//!     Kernel::allow_rw::<0x99, 5>(handle, &mut buffer).unwrap();
//! });
//! ```
//!
//! A handle that is used as one with a longer lifetime:
//!
//! ```compile_fail,E0597
//! # #![allow(unused)]
//! # use tock::{AllowRw, Kernel, Subscribe, Syscalls, ipc, memory, share};
//! # use std::cell::Cell;
//! fn keep(handle: share::Handle<'_, Subscribe<'static, Kernel, 0x99, 5>>) {}
//! let came = Cell::new(false);
//! share::scope::<Subscribe<_, 0x99, 5>, _, _>(|handle| {
//!     Kernel::subscribe(handle, &came).unwrap();
//!     keep(handle);
//! });
//! ```
//!
//! # For ever
//!
//! Without a scope the kernel's memory lives for ever, and memory that it may write consists of atomics.
//!
//! ```
//! # #![allow(unused)]
//! # use tock::{AllowRw, Kernel, Subscribe, Syscalls, ipc, memory, share};
//! # use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU32, Ordering::Relaxed};
//! static BUFFER: [AtomicU8; 8] = [const { AtomicU8::new(0) }; 8];
//! static CAME: AtomicBool = AtomicBool::new(false);
//! Kernel::allow_rw_static(0x99, 3, &BUFFER).unwrap();
//! Kernel::subscribe_static(0x99, 5, &CAME).unwrap();
//! let (read, came) = (BUFFER[0].load(Relaxed), CAME.load(Relaxed));
//! ```
//!
//! A buffer that dies:
//!
//! ```compile_fail,E0597
//! # #![allow(unused)]
//! # use tock::{AllowRw, Kernel, Subscribe, Syscalls, ipc, memory, share};
//! # use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU32, Ordering::Relaxed};
//! let buffer = [const { AtomicU8::new(0) }; 8];
//! Kernel::allow_rw_static(0x99, 3, &buffer).unwrap();
//! ```
//!
//! A buffer that others would see as plain bytes, which do not change:
//!
//! ```compile_fail,E0277
//! # #![allow(unused)]
//! # use tock::{AllowRw, Kernel, Subscribe, Syscalls, ipc, memory, share};
//! static BUFFER: [u8; 8] = [0; 8];
//! Kernel::allow_rw_static(0x99, 3, &BUFFER).unwrap();
//! ```
//!
//! An upcall whose state dies:
//!
//! ```compile_fail,E0597
//! # #![allow(unused)]
//! # use tock::{AllowRw, Kernel, Subscribe, Syscalls, ipc, memory, share};
//! # use std::cell::Cell;
//! let came = Cell::new(false);
//! Kernel::subscribe_static(0x99, 5, &came).unwrap();
//! ```
//!
//! An upcall in a static, with state that cannot be shared:
//!
//! ```compile_fail,E0277
//! # #![allow(unused)]
//! # use tock::{AllowRw, Kernel, Subscribe, Syscalls, ipc, memory, share};
//! # use std::cell::Cell;
//! static CAME: Cell<bool> = Cell::new(false);
//! Kernel::subscribe_static(0x99, 5, &CAME).unwrap();
//! ```
//!
//! # Memory of an area
//!
//! ```
//! # #![allow(unused)]
//! # use tock::{AllowRw, Kernel, Subscribe, Syscalls, ipc, memory, share};
//! static FROM: memory::Area = memory::Area::new();
//! FROM.reserve(8).unwrap();
//! let mut lent = FROM.lend(8).unwrap();
//! lent[0] = 1;
//! drop(lent);
//! ```
//!
//! Words that were returned:
//!
//! ```compile_fail,E0382
//! # #![allow(unused)]
//! # use tock::{AllowRw, Kernel, Subscribe, Syscalls, ipc, memory, share};
//! static FROM: memory::Area = memory::Area::new();
//! FROM.reserve(8).unwrap();
//! let mut lent = FROM.lend(8).unwrap();
//! drop(lent);
//! lent[0] = 1;
//! ```
//!
//! A reference that would outlive them:
//!
//! ```compile_fail,E0505
//! # #![allow(unused)]
//! # use tock::{AllowRw, Kernel, Subscribe, Syscalls, ipc, memory, share};
//! static FROM: memory::Area = memory::Area::new();
//! FROM.reserve(8).unwrap();
//! let lent = FROM.lend(8).unwrap();
//! let first = &lent[0];
//! drop(lent);
//! assert_eq!(*first, 0);
//! ```
//!
//! # Memory that another process shares
//!
//! It exists during the upcall that reports it.
//!
//! ```
//! # #![allow(unused)]
//! # use tock::{AllowRw, Kernel, Subscribe, Syscalls, ipc, memory, share};
//! # use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU32, Ordering::Relaxed};
//! static WORD: AtomicU32 = AtomicU32::new(0);
//! ipc::listen(1, &|_: u32, shared: ipc::Shared<'_>| {
//!     WORD.store(shared.get(0).unwrap_or(0), Relaxed);
//! })
//! # .unwrap();
//! ```
//!
//! Kept after the upcall:
//!
//! ```compile_fail,E0521
//! # #![allow(unused)]
//! # use tock::{AllowRw, Kernel, Subscribe, Syscalls, ipc, memory, share};
//! # use std::cell::Cell;
//! struct Keeps(Cell<Option<ipc::Shared<'static>>>);
//!
//! impl ipc::Notified for Keeps {
//!     fn notified(&self, _: u32, shared: ipc::Shared<'_>) {
//!         self.0.set(Some(shared));
//!     }
//! }
//! ```
//!
//! Made from any address:
//!
//! ```compile_fail,E0624
//! # #![allow(unused)]
//! # use tock::{AllowRw, Kernel, Subscribe, Syscalls, ipc, memory, share};
//! let shared = unsafe { ipc::Shared::new(0x1000 as *mut u32, 8) };
//! ```

#[cfg(not(feature = "abi-v1"))]
pub mod read_only {
    //! Read-only buffers, which version 1 does not have: they are not written while the kernel reads them.
    //!
    //! ```
    //! # #![allow(unused)]
    //! # use tock::{AllowRo, Kernel, Syscalls, share};
    //! let buffer = [1; 8];
    //! share::scope::<AllowRo<_, 0x99, 3>, _, _>(|handle| {
    //!     Kernel::allow_ro(handle, &buffer).unwrap();
    //!     let read = buffer[0];
    //! });
    //! ```
    //!
    //! A buffer that is written meanwhile:
    //!
    //! ```compile_fail,E0506
    //! # #![allow(unused)]
    //! # use tock::{AllowRo, Kernel, Syscalls, share};
    //! let mut buffer = [1; 8];
    //! share::scope::<AllowRo<_, 0x99, 3>, _, _>(|handle| {
    //!     Kernel::allow_ro(handle, &buffer).unwrap();
    //!     buffer[0] = 2;
    //! });
    //! ```
    //!
    //! A buffer that dies, but must live for ever:
    //!
    //! ```compile_fail,E0597
    //! # #![allow(unused)]
    //! # use tock::{AllowRo, Kernel, Syscalls, share};
    //! let buffer = [1; 8];
    //! Kernel::allow_ro_static(0x99, 3, &buffer).unwrap();
    //! ```
}
