// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Generates the catalogue's part, records the compiler, and links each app only to one object file: the tool
//! links that for the kernel in use.

use std::path::Path;
use std::process::Command;
use std::{env, fs};

fn main() {
    // A manifest in another folder gives the path of the apps.
    println!("cargo:rerun-if-env-changed=TM_APPS");
    let apps = env::var("TM_APPS").unwrap_or_else(|_| "../..".into());
    let apps = Path::new(&apps);
    let out = env::var("OUT_DIR").expect("cargo says where");
    let rows = Path::new(&out).join("rows.rs");
    for file in ["catalogue.toml", "generate.py", "asm/thumb"] {
        println!("cargo:rerun-if-changed={}", apps.join(file).display());
    }
    let arm = env::var("CARGO_CFG_TARGET_ARCH").is_ok_and(|arch| arch == "arm");
    let made = Command::new("python3")
        .arg(apps.join("generate.py"))
        .arg(apps.join("catalogue.toml"))
        .arg(&rows)
        .args(arm.then(|| apps.join("asm/thumb")))
        .status();
    assert!(
        made.is_ok_and(|status| status.success()),
        "apps/generate.py failed, as it says above"
    );

    println!("cargo:rerun-if-env-changed=TM_CC");
    let cc = env::var("TM_CC").unwrap_or_else(|_| "rustc, not by make apps".into());
    fs::write(Path::new(&out).join("cc.rs"), format!("c{cc:?}")).expect("OUT_DIR can be written");

    if env::var("CARGO_CFG_TARGET_OS").is_ok_and(|os| os == "none") {
        println!("cargo:rustc-link-arg-bins=-r");
        println!("cargo:rustc-link-arg-bins=--no-gc-sections");
    }
}
