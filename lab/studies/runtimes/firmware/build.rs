// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Gives the linker the chip's memory and riscv-rt's script. `TOCKMARK_LAYOUT=N` orders the functions by
//! seed N, as kernel/build.rs does.

use std::env;

fn main() {
    let variable = |name: &str| {
        println!("cargo::rerun-if-env-changed={name}");
        env::var(name).ok()
    };
    let level = env::var("OPT_LEVEL").expect("cargo sets OPT_LEVEL");
    println!("cargo::rustc-env=TOCKMARK_LEVEL={level}");
    println!("cargo::rustc-env=RISCV_RT_BASE_ISA=rv32i"); // riscv-rt's macros ask for it
    println!("cargo::rerun-if-changed=memory.ld");
    let here = env::var("CARGO_MANIFEST_DIR").expect("cargo sets CARGO_MANIFEST_DIR");
    println!("cargo::rustc-link-arg-bins=-T{here}/memory.ld");
    println!("cargo::rustc-link-arg-bins=-Tlink.x");
    println!("cargo::rustc-link-arg-bins=-nmagic"); // no headers of the file in a segment
    match variable("TOCKMARK_LAYOUT").as_deref() {
        None | Some("0") => {}
        Some(seed) => println!("cargo::rustc-link-arg-bins=--shuffle-sections=.text.*={seed}"),
    }
}
