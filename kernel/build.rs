// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Passes the machine's memory layout to the linker, for the board only (a host build is linked as usual),
//! and tells the kernel its variant and its opt-level.

use std::env;

fn main() {
    let is_on = |feature: &str| env::var_os(format!("CARGO_FEATURE_{feature}")).is_some();
    let machine = if is_on("NEXYSVIDEO") {
        "nexysvideo"
    } else if is_on("EARLGREY_2021") {
        "earlgrey-2021"
    } else if is_on("QEMU_CORTEX_M4") {
        "qemu-cortex-m4" // lab/stand-in
    } else if is_on("QEMU") {
        "qemu"
    } else {
        "cw310"
    };
    let room = if is_on("EIGHT") { " eight-apps" } else { "" };
    let regions = if is_on("PMP_8") { " pmp-8" } else { "" };
    let crypto = if is_on("CRYPTO") { " crypto" } else { "" };
    let counters = if is_on("CYCLECOUNT") {
        " cyclecount"
    } else if is_on("OPEN_COUNTERS") {
        " open-counters"
    } else if is_on("WITHOUT_PERF") {
        " without-perf"
    } else {
        ""
    };
    let version = if is_on("ABI_V1") { 1 } else { 2 };
    println!("cargo::rerun-if-changed=layout.ld");
    println!("cargo::rerun-if-changed=machines");
    // The image must name the opt-level that Cargo used, so it comes from Cargo.
    let opt_level = env::var("OPT_LEVEL").expect("cargo sets OPT_LEVEL");
    println!(
        "cargo::rustc-env=TOCKMARK_VARIANT=abi{version} {machine}{room}{regions}{counters}{crypto} opt-level={opt_level}"
    );
    if env::var("CARGO_CFG_TARGET_OS").as_deref() == Ok("none") {
        let here = env::var("CARGO_MANIFEST_DIR").expect("cargo sets CARGO_MANIFEST_DIR");
        let memory = match machine {
            "qemu-cortex-m4" => format!("{here}/../lab/stand-in"),
            _ => format!("{here}/machines/{machine}"),
        };
        println!("cargo::rustc-link-arg-bins=-L{memory}");
        println!("cargo::rustc-link-arg-bins=-T{here}/layout.ld");
        shift_and_shuffle(machine);
        if is_on("CRYPTO") {
            link_crypto();
        }
    }
}

/// Links the crypto object, `TOCKMARK_CRYPTO` (from `make programs`). ML-KEM needs a large stack.
fn link_crypto() {
    println!("cargo::rerun-if-env-changed=TOCKMARK_CRYPTO");
    // If the variable is not set, the linker prints that it cannot open this file.
    let object = env::var("TOCKMARK_CRYPTO").unwrap_or("what `make kernel-crypto` gives".into());
    println!("cargo::rerun-if-changed={object}");
    println!("cargo::rustc-link-arg-bins={object}");
    println!("cargo::rustc-link-arg-bins=--defsym=TOCKMARK_STACK=20480");
}

/// `TOCKMARK_LAYOUT=N` links the same object with another layout (docs/method.md): the linker orders the
/// functions by seed N, after a pad that shifts them within the 8-byte flash word. 0, the default, is the
/// source's layout. These are arguments of the linker, not the compiler, so that only the link differs.
///
/// On the CW310, 0 and `TYPICAL` change places, so that the default is a typical link: in the source's
/// order, three lines of the path of a system call share a set of the cache, and it takes 10 % longer.
fn shift_and_shuffle(machine: &str) {
    // The seed, of 0 to 15, whose figures are nearest to the medians (`make spread`).
    const TYPICAL: u32 = 12;
    println!("cargo::rerun-if-env-changed=TOCKMARK_LAYOUT");
    let layout = env::var("TOCKMARK_LAYOUT").map_or(0, |text| {
        text.parse::<u32>()
            .expect("TOCKMARK_LAYOUT is a whole number")
    });
    let layout = match layout {
        0 if machine == "cw310" => TYPICAL,
        TYPICAL if machine == "cw310" => 0,
        _ => layout,
    };
    if layout != 0 {
        let pad = layout % 4 * 2;
        println!("cargo::rustc-link-arg-bins=--shuffle-sections=.text.*={layout}");
        println!("cargo::rustc-link-arg-bins=--defsym=TOCKMARK_PAD={pad}");
    }
}
