// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Finds applications in flash and gives each its RAM.
//!
//! Applications follow each other in flash; each header gives the offset of the next one. If an
//! application cannot run, the kernel prints why, skips it and continues. If a header's checksum or sizes
//! are wrong, the search ends, since the start of the next application is unknown.

use crate::abi::{INTERFACE, UNSTATED};
use crate::process::App;
use crate::region::Region;
use crate::report::Name;
use crate::say;
use crate::slots::MAX_PROCESSES;
use crate::tbf::{self, Entry, Header};
use core::fmt;

pub type Apps = [Option<App>; MAX_PROCESSES];

/// Why an application cannot be run.
enum Refusal {
    NoRoom,
    NoInterface,
    Interface(u16, u16),
    Flash(u32, u32),
    NoRamAddress,
    Ram(u32, u32, Region),
    RamTaken(Region, Name),
}

impl fmt::Display for Refusal {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Refusal::NoRoom => write!(out, "the kernel takes {MAX_PROCESSES} apps"),
            Refusal::NoInterface => out.write_str("its header names no kernel version"),
            Refusal::Interface(major, minor) => {
                let (our_major, our_minor) = INTERFACE;
                write!(
                    out,
                    "it wants kernel {major}.{minor}, this is {our_major}.{our_minor}"
                )
            }
            Refusal::Flash(linked, is) => {
                write!(
                    out,
                    "it is linked for flash 0x{linked:08x} but starts at 0x{is:08x}"
                )
            }
            Refusal::NoRamAddress => out.write_str("its header names no fixed RAM address"),
            Refusal::Ram(start, size, ram) => {
                write!(
                    out,
                    "0x{size:x} bytes of RAM at 0x{start:08x} are not in {ram}"
                )
            }
            Refusal::RamTaken(wanted, owner) => {
                write!(out, "its RAM {wanted} overlaps that of app {owner}")
            }
        }
    }
}

/// Finds the applications in `flash`, which starts at address `flash_start`.
pub fn find_apps(flash: &'static [u8], flash_start: u32, ram: Region) -> Apps {
    let mut apps = [None; MAX_PROCESSES];
    let mut offset = 0;
    loop {
        let at = flash_start + offset;
        let size = match tbf::parse(flash.get(offset as usize..).unwrap_or(&[])) {
            Ok(Entry::End) => return apps,
            Ok(Entry::Padding(size)) => size,
            Ok(Entry::Unusable(size, why)) => {
                say!("bad app header at 0x{at:08x}: {why}; it is passed over");
                size
            }
            Ok(Entry::App(header)) => {
                take(&mut apps, &header, at, ram);
                header.total_size
            }
            Err(error) => {
                say!("bad app header at 0x{at:08x}: {error}; the search for apps ends here");
                return apps;
            }
        };
        offset += size;
    }
}

/// Adds an application, or prints why it was refused. Skips a disabled one.
fn take(apps: &mut Apps, header: &Header<'static>, at: u32, ram: Region) {
    if !header.enabled {
        return;
    }
    let placed = place(header, at, ram).and_then(|app| {
        let overlaps = |other: &&App| other.ram.overlaps(app.ram);
        match apps.iter().flatten().find(overlaps) {
            Some(other) => Err(Refusal::RamTaken(app.ram, Name(other.name))),
            None => Ok(app),
        }
    });
    let free = apps.iter_mut().find(|slot| slot.is_none());
    match (placed, free) {
        (Ok(app), Some(free)) => *free = Some(app),
        (Ok(_), None) => refuse(header, &Refusal::NoRoom),
        (Err(refusal), _) => refuse(header, &refusal),
    }
}

fn refuse(header: &Header<'static>, why: &Refusal) {
    say!("app {} refused: {why}", Name(header.name));
}

/// Computes the addresses of an application's flash and RAM.
fn place(header: &Header<'static>, at: u32, ram: Region) -> Result<App, Refusal> {
    let version = header.kernel_version.or(UNSTATED);
    let (major, minor) = version.ok_or(Refusal::NoInterface)?;
    if major != INTERFACE.0 || minor > INTERFACE.1 {
        return Err(Refusal::Interface(major, minor));
    }
    let start = at + header.start;
    if let Some(linked) = header.fixed_flash.filter(|linked| *linked != start) {
        return Err(Refusal::Flash(linked, start));
    }
    let ram_start = header.fixed_ram.ok_or(Refusal::NoRamAddress)?;
    let size = header.minimum_ram;
    let outside = Refusal::Ram(ram_start, size, ram);
    // The PMP protects whole words only.
    let app_ram = size
        .checked_next_multiple_of(4)
        .and_then(|size| Region::sized(ram_start, size))
        .filter(|region| ram.covers(*region) && ram_start.is_multiple_of(4));
    Ok(App {
        name: header.name,
        flash: Region::new(at, at + header.total_size),
        start,
        entry: at + header.entry,
        ram: app_ram.ok_or(outside)?,
    })
}
