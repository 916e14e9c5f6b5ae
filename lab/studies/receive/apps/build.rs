// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Links the app only to one object file, which the tool links for a kernel.

fn main() {
    if std::env::var("CARGO_CFG_TARGET_OS").is_ok_and(|os| os == "none") {
        println!("cargo:rustc-link-arg-bins=-r");
        println!("cargo:rustc-link-arg-bins=--no-gc-sections");
    }
}
