// SPDX-License-Identifier: Apache-2.0 OR MIT

//! A range of addresses, the comparisons of ranges, and how a range is written into the PMP.
//!
//! A region uses one pair of PMP entries in top-of-range mode: the first entry is off and holds the
//! start, the second holds the end. Addresses are given in words of four bytes.

use core::fmt;

/// The addresses from `start` up to, not including, `end`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Region {
    start: u32,
    end: u32,
}

impl Region {
    pub const EMPTY: Region = Region { start: 0, end: 0 };

    /// The region from `start` to `end`, which must not be below `start`.
    pub const fn new(start: u32, end: u32) -> Region {
        debug_assert!(start <= end);
        Region { start, end }
    }

    /// `length` bytes from `start`, or None if the end is beyond the address space.
    pub fn sized(start: u32, length: u32) -> Option<Region> {
        let end = start.checked_add(length)?;
        Some(Region { start, end })
    }

    pub const fn start(self) -> u32 {
        self.start
    }

    pub const fn end(self) -> u32 {
        self.end
    }

    pub const fn length(self) -> u32 {
        self.end - self.start
    }

    /// Can the PMP protect exactly this region?
    pub const fn is_whole_words(self) -> bool {
        self.start.is_multiple_of(4) && self.end.is_multiple_of(4)
    }

    /// Is all of `inner` within this region?
    pub const fn covers(self, inner: Region) -> bool {
        self.start <= inner.start && inner.end <= self.end
    }

    /// Do the two have a byte in common?
    pub fn overlaps(self, other: Region) -> bool {
        self.start.max(other.start) < self.end.min(other.end)
    }

    /// The pair of address registers. Start and end must be whole words.
    pub const fn pmp_pair(self) -> [u32; 2] {
        [self.start >> 2, self.end >> 2]
    }
}

impl fmt::Display for Region {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "0x{:08x}..0x{:08x}", self.start, self.end)
    }
}

/// One entry's byte of a PMP configuration register.
pub mod pmp {
    pub const READ: u8 = 1 << 0;
    pub const WRITE: u8 = 1 << 1;
    pub const EXECUTE: u8 = 1 << 2;
    pub const OFF: u8 = 0;
    pub const TOP_OF_RANGE: u8 = 1 << 3;
    pub const NAPOT: u8 = 3 << 3;
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_region_never_wraps_around() {
        assert_eq!(Region::sized(0xFFFF_FFFC, 8), None);
        assert_eq!(Region::sized(8, u32::MAX), None);
        assert_eq!(
            Region::sized(0xFFFF_FFF0, 0xF),
            Some(Region::new(0xFFFF_FFF0, u32::MAX))
        );
    }

    #[test]
    #[should_panic(expected = "start <= end")]
    fn a_region_does_not_end_before_its_start() {
        Region::new(8, 4);
    }

    #[test]
    fn neighbours_do_not_overlap() {
        let low = Region::new(0x1000, 0x2000);
        let high = Region::new(0x2000, 0x3000);
        assert!(!low.overlaps(high) && !high.overlaps(low));
        assert!(low.overlaps(Region::new(0x1FFF, 0x2001)));
        assert!(!low.overlaps(Region::new(0x1800, 0x1800)), "empty");
    }

    /// Compares an address with a pair of entries in top-of-range mode, as the PMP does.
    fn pmp_matches(pair: [u32; 2], address: u32) -> bool {
        u64::from(pair[0]) << 2 <= u64::from(address)
            && u64::from(address) < u64::from(pair[1]) << 2
    }

    proptest! {
        #[test]
        fn the_pmp_allows_exactly_the_region(start: u32, length: u32, address: u32) {
            let (start, length) = (start & !3, (length >> 4) & !3);
            if let Some(region) = Region::sized(start, length) {
                let probes = [address, start, start.wrapping_sub(1), region.end(),
                              region.end().wrapping_sub(1)];
                for probe in probes {
                    let inside = start <= probe && probe < region.end();
                    prop_assert_eq!(pmp_matches(region.pmp_pair(), probe), inside);
                }
            }
        }

        #[test]
        fn a_covered_region_overlaps(outer: (u32, u32), inner: (u32, u32)) {
            let between = |(one, other): (u32, u32)| Region::new(one.min(other), one.max(other));
            let (outer, inner) = (between(outer), between(inner));
            if outer.covers(inner) && inner.length() > 0 {
                prop_assert!(outer.overlaps(inner) && inner.overlaps(outer));
            }
        }
    }
}
