// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The system calls of a Rust app on Tock: version 2 of the interface (TRD 104) or, with the feature
//! `abi-v1`, version 1 (Tock 1.x). Names and structure follow libtock-rs, so its users feel at home. A call
//! costs its `ecall` and the loads of its arguments.
//!
//! ```
//! use core::sync::atomic::{AtomicU32, Ordering};
//! use tock::{alarm, console, perf};
//!
//! static CAME: AtomicU32 = AtomicU32::new(0);
//!
//! fn on_upcall(_cycles: u32, _instret: u32, word: u32) {
//!     CAME.store(word, Ordering::Relaxed);
//! }
//!
//! console::write(b"hello\n")?;
//! alarm::nap(10)?;
//! perf::subscribe_static(&on_upcall)?;
//! perf::schedule_upcall(42)?;
//! # use tock::{Kernel, Syscalls};
//! Kernel::yield_wait();
//! assert_eq!(CAME.load(Ordering::Relaxed), 42);
//! # Ok::<_, tock::ErrorCode>(())
//! ```
//!
//! Memory that the kernel has must live as long as the kernel has it. There are two ways: [`share::scope`]
//! takes the memory back before it dies; `'static` memory never dies. [`misuse`] shows what the compiler
//! refuses. Memory that others may write at any time consists of atomics: if the chip needs no more for it, a
//! `Relaxed` load or store is one instruction.
//!
//! Where to start reading: [`RawSyscalls`] is the `ecall` (on a Cortex-M `svc`) and [`Syscalls`] the safe
//! calls. [`share`] and [`Upcall`] are what these pass to the kernel, [`CommandReturn`] and [`ErrorCode`]
//! what they return. The drivers are built on them. The numbers, [`abi`], come from `apps/asm/abi.h`, as in C
//! and assembly. On a host [`Kernel`] is [`fake`], for tests. This crate has no panic handler.

#![no_std]

#[cfg(not(target_os = "none"))]
extern crate std;

#[allow(missing_docs)] // abi.h documents them
pub mod abi {
    //! The numbers of the interface, from `apps/asm/abi.h`.
    include!(concat!(env!("OUT_DIR"), "/abi.rs"));
}

pub mod alarm;
pub mod console;
#[cfg(target_arch = "arm")]
mod cortex_m;
mod error;
#[cfg(not(target_os = "none"))]
pub mod fake;
pub mod ipc;
pub mod memory;
#[cfg(any(doc, doctest))]
pub mod misuse;
pub mod perf;
mod raw;
#[cfg(not(feature = "abi-v1"))]
pub mod relay;
mod returned;
#[cfg(all(target_arch = "riscv32", feature = "abi-v1"))]
mod riscv32_v1;
#[cfg(all(target_arch = "riscv32", not(feature = "abi-v1")))]
mod riscv32_v2;
#[cfg(target_os = "none")]
pub mod runtime;
pub mod share;
mod syscalls;
mod upcall;

#[cfg(target_arch = "arm")]
pub use cortex_m::Kernel;
pub use error::{ErrorCode, NotAnErrorCode};
#[cfg(not(target_os = "none"))]
pub use fake::Kernel;
pub use raw::{RawSyscalls, Register, Returned, UpcallFunction};
pub use returned::{CommandReturn, SuccessData};
#[cfg(all(target_arch = "riscv32", feature = "abi-v1"))]
pub use riscv32_v1::Kernel;
#[cfg(all(target_arch = "riscv32", not(feature = "abi-v1")))]
pub use riscv32_v2::Kernel;
#[cfg(not(feature = "abi-v1"))]
pub use share::AllowRo;
pub use share::{AllowRw, Subscribe};
pub use syscalls::{Shareable, Syscalls, YieldNoWaitReturn};
pub use upcall::Upcall;
