// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The only module in which the kernel accesses an application's memory.
//!
//! An application names memory by address and length. [`UserBuffer::new`] checks once, when the buffer is
//! allowed, that the application may access it and that it is in the board's application memory. Reads
//! need no further check; writes check that it is RAM. The application may change the contents, or lower
//! its break below the buffer, at any time; the kernel then reads other bytes of the same application,
//! never bytes of another. Buffers may overlap, as TRD 104 permits: the kernel keeps addresses, never
//! references, so an overlap changes only the contents.

#![allow(unsafe_code)]

use crate::arch::{Hardware, Machine};
use crate::region::Region;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UserBuffer(Region);

impl UserBuffer {
    pub const EMPTY: UserBuffer = UserBuffer(Region::EMPTY);

    /// Returns `length` bytes at `address`, if one of the `allowed` regions covers them. An empty buffer
    /// may have any address.
    pub fn new(address: u32, length: u32, allowed: &[Region]) -> Option<UserBuffer> {
        let buffer = Region::sized(address, length)?;
        let inside = |region: &Region| region.covers(buffer) && is_app_memory(buffer);
        (length == 0 || allowed.iter().any(inside)).then_some(UserBuffer(buffer))
    }

    pub fn region(self) -> Region {
        self.0
    }

    pub fn address(self) -> u32 {
        self.0.start()
    }

    pub fn length(self) -> u32 {
        self.0.length()
    }

    /// The bytes from index `first` on.
    pub fn bytes_from(self, first: u32) -> impl Iterator<Item = u8> {
        let start = self.0.start().saturating_add(first);
        (start..self.0.end()).map(|address| {
            // Safety: `new` accepts only ranges in application memory, which is mapped, readable, and
            // has no Rust object; the address is in such a range.
            unsafe { Hardware::peek(address) }
        })
    }
}

#[cfg(any(test, feature = "crypto"))]
impl UserBuffer {
    /// Reads words from an aligned buffer into `words`, starting at word `first`. If the buffer ends within
    /// a word, the missing bytes read as zero; words after its end are unchanged.
    pub fn read(self, first: usize, words: &mut [u32]) {
        let bytes = self.length().saturating_sub(4 * first as u32);
        let whole = words.len().min(bytes as usize / 4);
        let start = self.address() + 4 * first as u32;
        let (full, rest) = words.split_at_mut(whole);
        for (word, at) in full.iter_mut().zip((start..).step_by(4)) {
            // Safety: `new` accepts only buffers in application memory; these words are in it and
            // aligned.
            *word = unsafe { Hardware::peek_word(at) };
        }
        if let Some(last) = rest.first_mut() {
            let left = self.bytes_from(4 * (first + whole) as u32);
            *last = left
                .zip([0, 8, 16, 24])
                .map(|(byte, by)| u32::from(byte) << by)
                .sum();
        }
    }

    /// Writes words to the start of an aligned buffer, up to its end, also if that is within a word. Writes
    /// nothing if the buffer is not in RAM.
    pub fn write(self, words: &[u32]) {
        if !Hardware::app_ram().covers(self.0) {
            return;
        }
        let whole = words.len().min(self.length() as usize / 4);
        let (full, rest) = words.split_at(whole);
        for (word, at) in full.iter().zip((self.address()..).step_by(4)) {
            // Safety: `new` accepts only buffers in application memory, and this one is RAM; these
            // words are in it and aligned.
            unsafe { Hardware::poke_word(at, *word) };
        }
        let last = rest.first().map_or([0; 4], |word| word.to_le_bytes());
        let bytes = if rest.is_empty() {
            0
        } else {
            self.length() % 4
        };
        for (byte, at) in last.into_iter().zip(self.0.end() - bytes..self.0.end()) {
            // Safety: as above; bytes need no alignment.
            unsafe { Hardware::poke(at, byte) };
        }
    }
}

/// Writes one byte at an address that the application gave, if `allowed` covers it.
pub fn write_byte(address: u32, value: u8, allowed: Region) {
    let Some(byte) = Region::sized(address, 1) else {
        return;
    };
    if allowed.covers(byte) && Hardware::app_ram().covers(byte) {
        // Safety: the address is in the applications' RAM, which is mapped, writable, and contains no
        // Rust object.
        unsafe { Hardware::poke(address, value) }
    }
}

/// The most groups of words that one call copies, or bytes if the buffers are not both aligned.
#[cfg(not(feature = "abi-v1"))]
const STEPS: u32 = 64;

/// Words in a group. A loop over single words would spend half of its time on loop instructions.
#[cfg(not(feature = "abi-v1"))]
const GROUP: u32 = 4;

/// Copies one part of `from`, starting at index `first`, to the same index of `to`. Returns the number of
/// bytes: 0 if the shorter buffer has no more, or `to` is not in RAM.
#[cfg(not(feature = "abi-v1"))]
#[inline(never)]
pub fn copy(from: UserBuffer, to: UserBuffer, first: u32) -> u32 {
    let left = from.length().min(to.length()).saturating_sub(first);
    if left == 0 || !Hardware::app_ram().covers(to.region()) {
        return 0;
    }
    let (mut source, mut target) = (from.address() + first, to.address() + first);
    if left >= 4 * GROUP && (source | target).is_multiple_of(4) {
        let groups = (left / (4 * GROUP)).min(STEPS);
        for _ in 0..groups {
            for word in 0..GROUP {
                // Safety: `new` accepts only buffers in application memory, and the second one is RAM;
                // these words are in both and aligned.
                unsafe {
                    Hardware::poke_word(target + 4 * word, Hardware::peek_word(source + 4 * word))
                };
            }
            (source, target) = (source + 4 * GROUP, target + 4 * GROUP);
        }
        return 4 * GROUP * groups;
    }
    let bytes = left.min(STEPS);
    for _ in 0..bytes {
        // Safety: as above; bytes need no alignment.
        unsafe { Hardware::poke(target, Hardware::peek(source)) };
        (source, target) = (source + 1, target + 1);
    }
    bytes
}

fn is_app_memory(region: Region) -> bool {
    Hardware::app_ram().covers(region) || Hardware::app_flash().covers(region)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arch::host;
    use proptest::prelude::*;

    /// Lengths and distances that matter: a few bytes, or most of the address space.
    fn distance() -> impl Strategy<Value = u32> {
        prop_oneof![
            0..64u32,
            (0..64u32).prop_map(u32::wrapping_neg),
            any::<u32>()
        ]
    }

    proptest! {
        /// A buffer is accepted if one region covers all of its bytes. (These sums cannot wrap around.)
        #[test]
        fn a_buffer_lies_in_one_region(
            from in distance(), length in distance(), size in 0..64u32, gap in 0..8u32,
        ) {
            let start = Hardware::app_ram().start();
            let first = Region::new(start, start + size);
            let second = Region::new(first.end() + gap, first.end() + gap + size);
            let address = start.wrapping_add(from);
            let end = u64::from(address) + u64::from(length);
            let inside = |region: Region| {
                region.start() <= address && end <= u64::from(region.end())
            };
            let fits = match length {
                0 => true,
                _ => inside(first) || inside(second),
            };
            let buffer = UserBuffer::new(address, length, &[first, second]);
            prop_assert_eq!(buffer.is_some(), fits);
            if let Some(buffer) = buffer {
                prop_assert_eq!((buffer.address(), buffer.length()), (address, length));
                prop_assert_eq!(buffer.bytes_from(0).count() as u32, length);
                prop_assert_eq!(buffer.bytes_from(3).count() as u32, length.saturating_sub(3));
                prop_assert_eq!(buffer.bytes_from(u32::MAX).count(), 0);
            }
        }

        /// The copy, part by part, has exactly the bytes that both buffers have.
        #[test]
        #[cfg(not(feature = "abi-v1"))]
        fn a_copy_has_the_bytes_of_both_buffers(
            from in 0..8u32, to in 0..8u32, length in 0..3000u32, room in 0..3000u32,
        ) {
            let start = Hardware::app_ram().start();
            let ram = Hardware::app_ram();
            let source = UserBuffer::new(start + from, length, &[ram]).unwrap();
            let target = UserBuffer::new(start + 4096 + to, room, &[ram]).unwrap();
            host::with(|machine| {
                machine.ram.fill(0);
                for (byte, place) in (1..).zip(&mut machine.ram[from as usize..][..length as usize]) {
                    *place = (byte % 251 + 1) as u8;
                }
            });
            let mut copied = 0;
            loop {
                let now = copy(source, target, copied);
                prop_assert!(now <= 4 * GROUP * STEPS);
                if now == 0 {
                    break;
                }
                copied += now;
            }
            prop_assert_eq!(copied, length.min(room));
            prop_assert_eq!(copy(source, target, u32::MAX), 0);
            host::with(|machine| {
                let (low, high) = machine.ram.split_at(4096);
                let (to, copied) = (to as usize, copied as usize);
                assert_eq!(&high[to..][..copied], &low[from as usize..][..copied]);
                assert!(high[..to].iter().chain(&high[to + copied..]).all(|byte| *byte == 0));
            });
        }

        /// A byte is written only where it is allowed.
        #[test]
        fn a_byte_is_written_only_where_allowed(from in distance(), size in 0..64u32) {
            let start = Hardware::app_ram().start() + 8;
            let address = start.wrapping_add(from);
            write_byte(address, 0xA5, Region::new(start, start + size));
            let written = host::with(|machine| {
                let position = machine.ram.iter().position(|byte| *byte == 0xA5);
                machine.ram.fill(0);
                position
            });
            prop_assert_eq!(written, (from < size).then_some(from as usize + 8));
        }
    }
}
