// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Perf: a stopwatch for applications.
//!
//! On Earl Grey user mode cannot read `mcycle` and `minstret` (`mcounteren` is hard-wired to zero), so an
//! application asks the kernel. [`commands`] lists the commands and executes them; command 3 reads both
//! counters. Each kernel adds an adapter: the baseline kernel in `drivers/perf.rs`, Tock 1.x and 2.x in
//! `tock-1.x` and `tock-2.x`, next to this crate's sources.
//!
//! # Usage
//!
//! ```
//! # use tockmark_perf::{Counters, Perf, Reply};
//! # struct Cpu;
//! # impl Counters for Cpu {
//! #     fn cycles(&self) -> u32 { 7 }
//! #     fn cycles_high(&self) -> u32 { 0 }
//! #     fn instructions(&self) -> u32 { 5 }
//! #     fn instructions_high(&self) -> u32 { 0 }
//! # }
//! let perf = Perf::new(Cpu); // `Cpu` reads the counters of this core
//! assert_eq!(perf.command(3, 0), Reply::Pair(7, 5));
//! ```

#![no_std]
#![forbid(unsafe_code)]

pub mod commands;

pub use commands::{Counters, DRIVER_NUMBER, Perf, Reply};

#[cfg(test)]
mod tests;
