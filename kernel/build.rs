// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Hands the memory layout to the linker, for the board only: on a host nothing is linked specially.

fn main() {
    println!("cargo::rerun-if-changed=layout.ld");
    if std::env::var("CARGO_CFG_TARGET_OS").as_deref() == Ok("none") {
        let here = std::env::var("CARGO_MANIFEST_DIR").expect("cargo sets CARGO_MANIFEST_DIR");
        println!("cargo::rustc-link-arg-bins=-T{here}/layout.ld");
    }
}
