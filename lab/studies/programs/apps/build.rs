// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Generates the catalogue's rows, and links each program only into one object file, which the tool links
//! for a kernel.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

fn main() {
    let given = |name, usual: &str| {
        println!("cargo:rerun-if-env-changed={name}");
        env::var_os(name).map_or_else(|| usual.into(), PathBuf::from)
    };
    let generator = given("TM_APPS", "../../../../apps").join("generate.py");
    let catalogue = given("TM_CATALOGUE", "../catalogue.toml");
    let rows = Path::new(&env::var_os("OUT_DIR").expect("cargo says where")).join("rows.rs");
    for file in [&generator, &catalogue] {
        println!("cargo:rerun-if-changed={}", file.display());
    }
    let made = Command::new("python3")
        .arg(&generator)
        .arg(&catalogue)
        .arg(&rows)
        .status();
    assert!(
        made.is_ok_and(|status| status.success()),
        "apps/generate.py failed, as it says above"
    );
    if env::var("CARGO_CFG_TARGET_OS").is_ok_and(|os| os == "none") {
        println!("cargo:rustc-link-arg-bins=-r");
        println!("cargo:rustc-link-arg-bins=--no-gc-sections");
    }
}
