// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The tockmark baseline kernel: the Tock system-call interface served by plain, small code on OpenTitan
//! Earl Grey. It loads up to four applications from flash, keeps them apart with the PMP, runs them
//! in user mode and serves one version of the interface: 2, or 1 if built so. It is not Tock and
//! holds none of its code.
//!
//! How to read it: a trap enters at `arch/riscv/trap.S`, which calls `arch/riscv/trap.rs`, which
//! calls [`kernel::Kernel`]. System calls are told apart in [`version`], one file a version of the
//! interface, which calls [`syscall`], one function each; the drivers behind them are in [`drivers`].
//! What a process is stands in [`process`], where it comes from in [`loader`] and [`tbf`]. What is asked
//! of the machine is one trait, [`arch::Machine`]. Everything outside of `arch` is safe Rust, but for
//! [`umem`], the one place that touches an application's memory; and everything outside of `arch`
//! runs on a host against a fake machine, which is how it is tested.

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
