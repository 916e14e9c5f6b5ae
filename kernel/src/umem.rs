// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The one place where the kernel touches an application's memory.
//!
//! An application names memory by address and length. A [`UserBuffer`] is such a range that was
//! checked when it was allowed: against what that application may access, and against the memory
//! that the board gives to applications at all. After that it can be read without further questions.
//! The application may change its contents, or give up the break above it, at any time; the kernel
//! then reads other bytes of the same application, never anybody else's. Buffers may overlap, as TRD
//! 104 lets them: the kernel holds addresses and reads byte by byte, never a reference to such memory.

#![allow(unsafe_code)]

use crate::arch;
use crate::region::Region;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UserBuffer(Region);

impl UserBuffer {
    pub const EMPTY: UserBuffer = UserBuffer(Region::EMPTY);

    /// `length` bytes at `address`, if they lie within one of the `allowed` regions. An empty buffer
    /// may lie anywhere.
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
            // Safety: `new` let only ranges through that lie in application memory, which is
            // mapped, readable, and holds no Rust object; the address lies within such a range.
            unsafe { arch::peek(address) }
        })
    }
}

/// Writes one byte at an address that the application gave, if it lies within `allowed`.
pub fn write_byte(address: u32, value: u8, allowed: Region) {
    let Some(byte) = Region::sized(address, 1) else {
        return;
    };
    if allowed.covers(byte) && arch::app_ram().covers(byte) {
        // Safety: the address lies in the applications' RAM, which is mapped, writable, and holds
        // no Rust object: nothing that the compiler knows of changes.
        unsafe { arch::poke(address, value) }
    }
}

fn is_app_memory(region: Region) -> bool {
    arch::app_ram().covers(region) || arch::app_flash().covers(region)
}
