// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The kernel image. All code is in the library; execution starts at `arch/riscv/start.S`.

#![cfg_attr(target_os = "none", no_std, no_main)]

#[cfg(target_os = "none")]
use tockmark_kernel as _;

#[cfg(not(target_os = "none"))]
fn main() {
    eprintln!(
        "tockmark-kernel runs on Earl Grey, not on this machine; build it with: cargo kernel"
    );
    std::process::exit(2);
}
