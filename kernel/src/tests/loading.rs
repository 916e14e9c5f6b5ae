// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The applications that the kernel loads from flash, and its messages about those that it refuses.

use super::*;
use crate::process::State;
use crate::region::Region;
use crate::slots::MAX_PROCESSES;
use crate::tbf::tests::{Numbers, broken_app, value};
use proptest::prelude::*;

fn running(kernel: &Kernel) -> Vec<&str> {
    let ready = kernel
        .processes
        .iter()
        .filter(|process| process.state == State::Ready);
    ready.map(|process| process.app.name).collect()
}

/// An application with these entries, then an ordinary one.
fn before_an_ordinary(entries: &[(u16, Vec<u8>)], flags: u32) -> Vec<u8> {
    let mut flash = app(entries, FLASH_EACH, flags);
    let good = apps(&["pad", "good"]).split_off(FLASH_EACH as usize);
    flash.extend(good);
    flash
}

#[test]
fn the_kernel_runs_its_most_apps_and_refuses_one_more() {
    let names = &["a", "b", "c", "d", "e", "f", "g", "h", "i"][..=MAX_PROCESSES];
    let kernel = load(apps(names));
    let (last, taken) = names.split_last().unwrap();
    assert_eq!(running(&kernel), taken);
    let line = format!("app {last} refused: the kernel takes {MAX_PROCESSES} apps");
    assert!(printed().contains(&line));
    assert!(printed().ends_with(&format!("apps: {MAX_PROCESSES}\n")));
}

#[test]
fn padding_and_disabled_apps_are_skipped_silently() {
    for (entries, flags) in [(vec![], 0), (usual("off", RAM, FLASH, 64), 0)] {
        host::with(|machine| machine.fifo.clear());
        let kernel = load(before_an_ordinary(&entries, flags));
        assert_eq!(running(&kernel), ["good"]);
        assert_eq!(printed().lines().count(), 1, "{}", printed());
    }
}

#[test]
fn an_app_that_cannot_run_is_refused_with_the_reason() {
    let mut no_version = usual("app", RAM, u32::MAX, 64);
    no_version.pop();
    let mut version_3 = no_version.clone();
    version_3.push((8, value(&[3])));
    let mut not_fixed = no_version.clone();
    not_fixed.retain(|(kind, _)| *kind != 5);
    not_fixed.push((8, value(&[2])));
    let cases = [
        (no_version, "names no kernel version"),
        (version_3, "wants kernel 3.0"),
        (not_fixed, "no fixed RAM address"),
        (usual("app", u32::MAX, u32::MAX, 64), "no fixed RAM address"),
        (usual("app", RAM, FLASH, 64), "linked for flash 0x20030000"),
        (
            usual("app", RAM - 4, u32::MAX, 64),
            "not in 0x10002000..0x10012000",
        ),
        (
            usual("app", RAM + 2, u32::MAX, 64),
            "0x40 bytes of RAM at 0x10002002",
        ),
        (usual("app", RAM, u32::MAX, u32::MAX), "0xffffffff bytes"),
        (usual("app", RAM, u32::MAX, 0x1_0001), "0x10001 bytes"),
    ];
    for (entries, reason) in cases {
        let kernel = load(before_an_ordinary(&entries, 1));
        assert_eq!(running(&kernel), ["good"], "{reason}");
        let output = printed();
        assert!(
            output.contains("app app refused: ") && output.contains(reason),
            "{output}"
        );
    }
}

#[test]
fn an_app_cannot_have_anothers_ram() {
    let mut flash = app(&usual("one", RAM, u32::MAX, RAM_EACH), FLASH_EACH, 1);
    let overlapping = usual("two", RAM + RAM_EACH - 4, u32::MAX, 64);
    flash.extend(app(&overlapping, FLASH_EACH, 1));
    let kernel = load(flash);
    assert_eq!(running(&kernel), ["one"]);
    let reason = "app two refused: its RAM 0x10002ffc..0x1000303c overlaps that of app one";
    assert!(printed().contains(reason), "{}", printed());
}

#[test]
fn a_bad_header_ends_the_search() {
    let mut flash = apps(&["a", "b", "c"]);
    flash[FLASH_EACH as usize + 20] ^= 1;
    let kernel = load(flash);
    assert_eq!(running(&kernel), ["a"]);
    let line = "bad app header at 0x20030400: checksum does not match";
    assert!(printed().contains(line), "{}", printed());
}

/// The header's size is reliable, so the next application is found.
#[test]
fn an_unusable_header_is_skipped() {
    let good = |kind| (kind, value(&[0, 0, 64]));
    let cases = [
        (vec![good(1), (3, vec![0xFF])], "package name is not text"),
        (
            vec![good(1), (3, vec![b'n'; 49])],
            "package name has 49 bytes, more than 48",
        ),
        (
            vec![(1, value(&[FLASH_EACH, 0, 64]))],
            "entry point lies outside of the app",
        ),
        (
            vec![(1, value(&[0]))],
            "header entry of type 1 is cut short",
        ),
    ];
    for (entries, why) in cases {
        host::reset();
        let kernel = load(before_an_ordinary(&entries, 1));
        assert_eq!(running(&kernel), ["good"], "{why}");
        let line = format!(
            "tockmark-kernel: bad app header at 0x20030000: {why}; it is passed over\n\
             tockmark-kernel: baseline"
        );
        assert!(printed().starts_with(&line), "{}", printed());
    }
}

#[test]
fn a_name_cannot_break_the_line() {
    let flash = app(&usual("a\nb", RAM - 4, u32::MAX, 64), FLASH_EACH, 1);
    load(flash);
    assert!(printed().contains("app a?b refused"));
}

proptest! {
    /// For any contents of flash, each process has flash and RAM that are meant for applications and that
    /// no other process has.
    #[test]
    fn no_content_of_flash_gives_an_app_memory_of_another(seed in 1..u64::MAX) {
        let mut numbers = Numbers(seed);
        let mut flash = Vec::new();
        for _ in 0..numbers.below(12) {
            let mut image = broken_app(&mut numbers);
            image.resize(512, 0xFF);
            flash.extend(image);
        }
        let whole = Region::new(FLASH, FLASH + flash.len() as u32);
        let apps = find_apps(flash.leak(), FLASH, Hardware::app_ram());
        for (index, app) in apps.iter().enumerate().filter_map(|(i, app)| Some((i, app.as_ref()?))) {
            prop_assert!(whole.covers(app.flash) && app.flash.is_whole_words());
            prop_assert!(app.flash.start() < app.start && app.start < app.flash.end());
            prop_assert!(app.flash.start() < app.entry && app.entry < app.flash.end());
            prop_assert!(Hardware::app_ram().covers(app.ram) && app.ram.is_whole_words());
            for other in apps[..index].iter().flatten() {
                prop_assert!(!other.flash.overlaps(app.flash) && !other.ram.overlaps(app.ram));
            }
        }
    }
}
