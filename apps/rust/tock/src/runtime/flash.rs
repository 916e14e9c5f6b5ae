// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The tables in flash that the bodies of asm/flash.S read.

/// A word of a chain: the address of the next one.
#[derive(Clone, Copy, Debug)]
#[repr(transparent)]
pub struct Place(*const Place);

// SAFETY: it points to constants, which do not change.
unsafe impl Sync for Place {}

unsafe extern "C" {
    static tm_flash_table: u32;
    static tm_flash_table_end: u32;
    static tm_flash_within: Place;
    static tm_flash_next: Place;
    static tm_flash_far: Place;
    static tm_flash_chains_end: Place;
}

impl Place {
    /// Returns the next word of the chain.
    ///
    /// # Panics
    ///
    /// If this is the end of the chain.
    #[must_use]
    pub fn follow(self) -> Self {
        let chains = &raw const tm_flash_within..&raw const tm_flash_chains_end;
        assert!(chains.contains(&self.0), "the chain ends here");
        // SAFETY: between these two labels there are only chains and zeros.
        unsafe { *self.0 }
    }

    /// Returns the argument for a body in assembly.
    #[must_use]
    pub fn address(self) -> u32 {
        self.0 as u32
    }
}

/// Two words of one flash word, each with the address of the other.
#[must_use]
pub fn within() -> Place {
    Place(&raw const tm_flash_within)
}

/// Each word is in the flash word after the previous one.
#[must_use]
pub fn next() -> Place {
    Place(&raw const tm_flash_next)
}

/// The words are in flash words that are 1 KiB apart.
#[must_use]
pub fn far() -> Place {
    Place(&raw const tm_flash_far)
}

/// The table of words between 0 and 63.
#[must_use]
pub fn table() -> &'static [u32] {
    let (start, end) = (&raw const tm_flash_table, &raw const tm_flash_table_end);
    // SAFETY: between these two labels there are words, which do not change.
    unsafe { core::slice::from_raw_parts(start, end.offset_from_unsigned(start)) }
}
