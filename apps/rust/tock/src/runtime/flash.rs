// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The tables in flash that the bodies of asm/flash.S read.

/// A word of a chain: the address of the next one.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub struct Place(*const Place);

// SAFETY: it points to constants, which nobody changes.
unsafe impl Sync for Place {}

unsafe extern "C" {
    static tm_flash_table: u32;
    static tm_flash_within: Place;
    static tm_flash_next: Place;
    static tm_flash_far: Place;
}

impl Place {
    /// The one that it leads to. Chains end in a circle, or behind as many places as the catalogue has
    /// loads in a sample: nobody goes further.
    #[must_use]
    pub fn follow(self) -> Self {
        // SAFETY: it is in one of the tables below, each word of which is a place.
        unsafe { *self.0 }
    }

    /// What a body in assembly takes.
    #[must_use]
    pub fn address(self) -> u32 {
        self.0 as u32
    }
}

/// Two words of one flash word, each of which leads to the other.
#[must_use]
pub fn within() -> Place {
    Place(&raw const tm_flash_within)
}

/// Each in the flash word behind the last one.
#[must_use]
pub fn next() -> Place {
    Place(&raw const tm_flash_next)
}

/// In flash words that are 1 KiB apart.
#[must_use]
pub fn far() -> Place {
    Place(&raw const tm_flash_far)
}

/// The table of so many words between 0 and 63: as the catalogue has for flash.read_seq.
#[must_use]
pub fn table<const WORDS: usize>() -> &'static [u32; WORDS] {
    // SAFETY: assembly makes it as long as the catalogue says, which callers pass.
    unsafe { &*(&raw const tm_flash_table).cast() }
}
