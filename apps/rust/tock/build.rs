// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Converts the numbers of the interface in `apps/asm/abi.h`, their only list, to constants of Rust. It
//! accepts only the few forms of line that the list has.

use std::fmt::Write;
use std::path::Path;
use std::{env, fs};

const LIST: &str = "../../asm/abi.h";

fn main() -> Result<(), String> {
    println!("cargo::rerun-if-changed={LIST}");
    let version = 2 - u32::from(env::var_os("CARGO_FEATURE_ABI_V1").is_some());
    let list = fs::read_to_string(LIST).map_err(|error| format!("{LIST}: {error}"))?;
    let constants = constants(&list, version).map_err(|error| format!("{LIST}: {error}"))?;
    let out = env::var_os("OUT_DIR").ok_or("cargo sets OUT_DIR")?;
    fs::write(Path::new(&out).join("abi.rs"), constants).map_err(|error| error.to_string())
}

/// Returns the constants that the list defines for this version of the interface, in Rust.
fn constants(list: &str, version: u32) -> Result<String, String> {
    let mut rust = String::new();
    let mut open = Vec::new(); // for each #if around the line: does the compiler see this branch?
    for line in without_comments(list)?.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        match words[..] {
            [] => {}
            ["#ifndef", "TM_ASM_ABI_H"] => open.push(true),
            ["#ifdef", "__ASSEMBLER__"] => open.push(false),
            ["#if", "TM_ABI", "==", "1"] => open.push(version == 1),
            ["#if", "TM_ABI", "!=", "1", "&&", "TM_ABI", "!=", "2"] => open.push(false),
            ["#else"] => {
                let last = open.last_mut().ok_or("an #else without its #if")?;
                *last = !*last;
            }
            ["#endif"] => drop(open.pop().ok_or("an #endif without its #if")?),
            ["#define" | "#error", ..] if open.contains(&false) => {}
            ["#define", "TM_ASM_ABI_H"] => {}
            ["#define", name, value] => {
                let value = number(value).ok_or(format!("not a number: {line}"))?;
                writeln!(rust, "pub const {name}: u32 = {value:#x};").expect("a String takes all");
            }
            _ => return Err(format!("build.rs does not know this form of line: {line}")),
        }
    }
    match open[..] {
        [] => Ok(rust),
        _ => Err("an #if without its #endif".to_owned()),
    }
}

fn without_comments(text: &str) -> Result<String, String> {
    let mut pieces = text.split("/*");
    let mut code = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        let (_, behind) = piece.split_once("*/").ok_or("a comment without its end")?;
        code += behind;
    }
    Ok(code)
}

fn number(text: &str) -> Option<u32> {
    match text.strip_prefix("0x") {
        Some(digits) => u32::from_str_radix(digits, 16).ok(),
        None => text.parse().ok(),
    }
}
