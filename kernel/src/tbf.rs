// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Reads the header of an application in flash: Tock Binary Format, version 2.
//!
//! A header is four words (version and header size, total size, flags, checksum) and then entries of
//! type, length and value, each padded to a whole word. Entries that this kernel does not need are
//! skipped. Flash may hold anything, so every size is checked before it is used.

use core::fmt;

/// The content of flash at one address.
#[derive(Debug, PartialEq, Eq)]
pub enum Entry<'a> {
    /// Erased or zero: no further applications.
    End,
    /// A header without a program: this many bytes are reserved.
    Padding(u32),
    /// A header with a correct checksum that cannot be used, and how many bytes to skip.
    Unusable(u32, Error),
    App(Header<'a>),
}

/// The fields of a header that the kernel needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header<'a> {
    /// The size of the whole application in flash, header included.
    pub total_size: u32,
    pub enabled: bool,
    pub name: &'a str,
    /// Where the application proper starts, counted from the header's start.
    pub start: u32,
    /// Its first instruction, counted from the header's start.
    pub entry: u32,
    pub minimum_ram: u32,
    pub fixed_ram: Option<u32>,
    pub fixed_flash: Option<u32>,
    /// Major and minor version of the interface that it was built for.
    pub kernel_version: Option<(u16, u16)>,
}

/// The longest name of an application. It is limited because the kernel compares names with interrupts off
/// ([`crate::drivers::ipc::find`]), and lines about an application contain its name.
pub const NAME_BYTES: usize = 48;

/// Why a header cannot be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Error {
    Version(u16),
    Size,
    Checksum,
    Truncated(u16),
    Name,
    LongName(usize),
    Entry,
}

impl fmt::Display for Error {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Version(version) => write!(out, "header version {version} is not 2"),
            Error::Size => out.write_str("header or total size is impossible"),
            Error::Checksum => out.write_str("checksum does not match"),
            Error::Truncated(kind) => write!(out, "header entry of type {kind} is cut short"),
            Error::Name => out.write_str("package name is not text"),
            Error::LongName(length) => {
                write!(
                    out,
                    "package name has {length} bytes, more than {NAME_BYTES}"
                )
            }
            Error::Entry => out.write_str("entry point lies outside of the app"),
        }
    }
}

const BASE_SIZE: usize = 16;
const CHECKSUM_AT: usize = 12;
const ENABLED: u32 = 1;

mod kind {
    pub const MAIN: u16 = 1;
    pub const PACKAGE_NAME: u16 = 3;
    pub const FIXED_ADDRESSES: u16 = 5;
    pub const KERNEL_VERSION: u16 = 8;
    pub const PROGRAM: u16 = 9;
}

/// Reads the entry at the start of `flash`, which reaches to the end of the applications' flash. Returns
/// an error if the header's size is unreliable: then the start of the next header is unknown.
pub fn parse(flash: &[u8]) -> Result<Entry<'_>, Error> {
    let (Some(version), Some(first)) = (half(flash, 0), word(flash, 0)) else {
        return Ok(Entry::End);
    };
    // After the last application flash is zero, or erased, or erased except for one zero byte that
    // tockloader writes there.
    if matches!(first, 0 | u32::MAX | 0xFFFF_FF00) {
        return Ok(Entry::End);
    }
    if version != 2 {
        return Err(Error::Version(version));
    }
    let header_size = half(flash, 2).map(usize::from).ok_or(Error::Size)?;
    let total_size = word(flash, 4).ok_or(Error::Size)?;
    let fits = header_size >= BASE_SIZE
        && header_size.is_multiple_of(4)
        && header_size <= total_size as usize
        && total_size.is_multiple_of(4)
        && total_size as usize <= flash.len();
    let header = flash.get(..header_size).filter(|_| fits);
    let header = header.ok_or(Error::Size)?;
    if checksum(header) != word(header, CHECKSUM_AT).ok_or(Error::Size)? {
        return Err(Error::Checksum);
    }
    let enabled = word(header, 8).ok_or(Error::Size)? & ENABLED != 0;
    let entry = parse_entries(header, total_size, enabled);
    Ok(entry.unwrap_or_else(|error| Entry::Unusable(total_size, error)))
}

fn parse_entries(header: &[u8], total_size: u32, enabled: bool) -> Result<Entry<'_>, Error> {
    let mut main = None;
    let mut program = None;
    let mut name = "";
    let mut fixed = None;
    let mut kernel_version = None;

    let mut rest = &header[BASE_SIZE..];
    while !rest.is_empty() {
        let kind = half(rest, 0).ok_or(Error::Truncated(0))?;
        let cut = Error::Truncated(kind);
        let length = half(rest, 2).map(usize::from).ok_or(cut)?;
        let value = rest.get(4..4 + length).ok_or(cut)?;
        match kind {
            kind::MAIN => main = Some(words::<3>(value).ok_or(cut)?),
            kind::PROGRAM => program = Some(words::<3>(value).ok_or(cut)?),
            kind::PACKAGE_NAME if length > NAME_BYTES => return Err(Error::LongName(length)),
            kind::PACKAGE_NAME => name = str::from_utf8(value).map_err(|_| Error::Name)?,
            kind::FIXED_ADDRESSES => fixed = Some(words::<2>(value).ok_or(cut)?),
            kind::KERNEL_VERSION => {
                let [version] = words::<1>(value).ok_or(cut)?;
                kernel_version = Some((version as u16, (version >> 16) as u16));
            }
            _ => {}
        }
        rest = rest.get(4 + length.next_multiple_of(4)..).ok_or(cut)?;
    }

    // A Program entry has all fields of a Main entry and more, so it takes precedence.
    let Some([entry, protected, minimum_ram]) = program.or(main) else {
        return Ok(Entry::Padding(total_size));
    };
    // Both are counted from the end of the header.
    let header_size = header.len() as u32;
    let place = |offset: u32| {
        offset
            .checked_add(header_size)
            .filter(|at| *at < total_size)
    };
    Ok(Entry::App(Header {
        total_size,
        enabled,
        name,
        start: place(protected).ok_or(Error::Entry)?,
        entry: place(entry).ok_or(Error::Entry)?,
        minimum_ram,
        fixed_ram: fixed.map(|[ram, _]| ram).filter(|ram| *ram != ANYWHERE),
        fixed_flash: fixed
            .map(|[_, flash]| flash)
            .filter(|flash| *flash != ANYWHERE),
        kernel_version,
    }))
}

/// A fixed address of this value means that there is none.
const ANYWHERE: u32 = u32::MAX;

/// The xor of all words of a header except the checksum.
fn checksum(header: &[u8]) -> u32 {
    (0..header.len())
        .step_by(4)
        .filter(|at| *at != CHECKSUM_AT)
        .filter_map(|at| word(header, at))
        .fold(0, |sum, word| sum ^ word)
}

fn words<const N: usize>(value: &[u8]) -> Option<[u32; N]> {
    let mut words = [0; N];
    for (index, out) in words.iter_mut().enumerate() {
        *out = word(value, 4 * index)?;
    }
    Some(words)
}

fn word(bytes: &[u8], at: usize) -> Option<u32> {
    let bytes = bytes.get(at..at.checked_add(4)?)?;
    Some(u32::from_le_bytes(bytes.try_into().ok()?))
}

fn half(bytes: &[u8], at: usize) -> Option<u16> {
    let bytes = bytes.get(at..at.checked_add(2)?)?;
    Some(u16::from_le_bytes(bytes.try_into().ok()?))
}

#[cfg(test)]
#[path = "tbf_tests.rs"]
pub mod tests;
