// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Has the programs linked only so far that each is one object file: the tool links it for the kernel at
//! hand.

use std::env;

fn main() {
    if env::var("CARGO_CFG_TARGET_OS").is_ok_and(|os| os == "none") {
        println!("cargo:rustc-link-arg-bins=-r");
        println!("cargo:rustc-link-arg-bins=--no-gc-sections");
    }
}
