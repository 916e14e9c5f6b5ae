// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The tockmark baseline kernel serves the Tock system-call interface on OpenTitan Earl Grey with plain,
//! small code. It loads up to four applications from flash, isolates them with the PMP and runs them in
//! user mode. A build serves version 2 of the interface, or version 1. The kernel is not Tock and has
//! none of Tock's code.
//!
//! Where to start reading: a trap enters at `arch/riscv/trap.S`, which calls `arch/riscv/trap.rs`, which
//! calls [`kernel::Kernel`]. [`version`] decodes system calls; it has one file per version of the
//! interface. It calls [`syscall`], which has one function per call. The drivers are in [`drivers`].
//! [`process`] describes a process; [`loader`] and [`tbf`] load it. The machine is one trait,
//! [`arch::Machine`]. Outside `arch` all code is safe Rust, except [`umem`], the only module that
//! accesses an application's memory. All code outside `arch` also runs on a host, with a fake machine:
//! that is how it is tested.

#![cfg_attr(target_os = "none", no_std)]

pub mod abi;
pub mod arch;
pub mod drivers;
pub mod frame;
pub mod kernel;
pub mod loader;
pub mod process;
pub mod region;
pub mod report;
pub mod sharing;
pub mod slots;
pub mod syscall;
pub mod tbf;
pub mod umem;
pub mod upcall;
#[cfg(feature = "abi-v1")]
pub mod v1;
#[cfg(not(feature = "abi-v1"))]
pub mod v2;

#[cfg(feature = "abi-v1")]
pub use v1 as version;
#[cfg(not(feature = "abi-v1"))]
pub use v2 as version;

#[cfg(all(test, not(feature = "abi-v1")))]
mod tests;
#[cfg(all(test, feature = "abi-v1"))]
#[path = "tests/v1.rs"]
mod tests;
