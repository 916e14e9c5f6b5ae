// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The buffers that other processes share with one process: at most one from each, and which of them the
//! process can access.
//!
//! A process cannot access a buffer until the buffer's owner has notified it and it takes that
//! notification. From then on the PMP opens the buffer, as one more region next to the process's own, until
//! the owner takes it back, shares another one, or ends. With four processes there is a region for each
//! other process. With eight processes, or with eight PMP entries, there are too few. Then a process that
//! touches an open buffer without a region faults, [`Inbox::turn_to`] gives the buffer a region, and the
//! process continues. The PMP protects whole words only, so a buffer that is not aligned stays closed, and
//! its notification reports an empty buffer.

use crate::region::Region;
use crate::slots::MAX_PROCESSES;

/// The number of shared buffers that the PMP opens: one per other process, if it has enough entries.
pub const WINDOWS: usize = if OTHERS < PAIRS { OTHERS } else { PAIRS };
const OTHERS: usize = MAX_PROCESSES - 1;
const PAIRS: usize = if cfg!(feature = "pmp-8") { 1 } else { 5 }; // of entries: arch/riscv/pmp.rs

pub struct Inbox {
    /// The buffer that each process shares, by the owner's index.
    offers: [Region; MAX_PROCESSES],
    /// Bit N: the process can access the buffer of process N.
    open: u8,
    /// Has anything changed since the PMP was last set?
    moved: bool,
    /// The owner of the buffer that gets the first region, if there are more than [`WINDOWS`].
    first: u8,
}

impl Inbox {
    pub const fn new() -> Inbox {
        Inbox {
            offers: [Region::EMPTY; MAX_PROCESSES],
            open: 0,
            moved: false,
            first: 0,
        }
    }

    /// Records that process `owner` shares this buffer now, and closes its earlier one.
    pub fn offer(&mut self, owner: usize, buffer: Region) {
        self.offers[owner] = buffer;
        self.open &= !(1 << owner);
    }

    /// Opens the buffer that `owner` shares and returns it; empty if there is none.
    pub fn open(&mut self, owner: usize) -> Region {
        let offer = self.offers.get(owner).copied().unwrap_or(Region::EMPTY);
        if offer.length() == 0 || !offer.is_whole_words() {
            return Region::EMPTY;
        }
        if self.open & 1 << owner == 0 {
            self.open |= 1 << owner;
            self.moved = true;
        }
        offer
    }

    /// Closes all buffers. They can be opened again.
    pub fn close(&mut self) {
        self.open = 0;
        self.moved = false;
    }

    pub fn is_closed(&self) -> bool {
        self.open == 0
    }

    /// Does the PMP have to be set again? Returns true once per change.
    pub fn take_moved(&mut self) -> bool {
        core::mem::take(&mut self.moved)
    }

    /// The buffers that the PMP opens; unused regions are empty.
    pub fn windows(&self) -> [Region; WINDOWS] {
        let mut windows = [Region::EMPTY; WINDOWS];
        let first = if WINDOWS == OTHERS {
            0
        } else {
            usize::from(self.first)
        };
        let owners = (first..first + MAX_PROCESSES).map(|owner| owner % MAX_PROCESSES);
        let open = owners.filter(|owner| self.open & 1 << owner != 0);
        for (window, owner) in windows.iter_mut().zip(open) {
            *window = self.offers[owner];
        }
        windows
    }

    /// Gives a region to the open buffer that has this address, if it has none, and returns whether it did.
    /// The buffers of the next processes keep a region as well. So an instruction that accesses two
    /// neighbouring buffers does not fault for ever.
    pub fn turn_to(&mut self, address: u32) -> bool {
        if WINDOWS == OTHERS {
            return false;
        }
        let holds = |region: Region| region.start() <= address && address < region.end();
        let is_open = |owner: usize| self.open & 1 << owner != 0;
        let wanted = (0..MAX_PROCESSES).find(|owner| is_open(*owner) && holds(self.offers[*owner]));
        let wanted = wanted.filter(|_| !self.windows().into_iter().any(holds));
        if let Some(owner) = wanted {
            self.first = owner as u8;
        }
        wanted.is_some()
    }
}

impl Default for Inbox {
    fn default() -> Inbox {
        Inbox::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn buffer(owner: usize) -> Region {
        let start = 0x1000_0000 + 0x100 * owner as u32;
        Region::new(start, start + 0x100)
    }

    /// More buffers than the PMP has regions, each next to the other: an access to one of them faults once,
    /// an access across two faults twice.
    #[test]
    #[cfg(all(feature = "eight", not(feature = "pmp-8")))]
    fn each_open_buffer_has_its_turn() {
        let mut inbox = Inbox::new();
        for owner in 1..MAX_PROCESSES {
            inbox.offer(owner, buffer(owner));
            assert!(!inbox.turn_to(buffer(owner).start()), "not open");
            inbox.open(owner);
        }
        for first in 1..MAX_PROCESSES {
            for second in 1..MAX_PROCESSES {
                inbox.turn_to(buffer(first).start());
                assert!(!inbox.turn_to(buffer(first).start()), "it is there");
                inbox.turn_to(buffer(second).end() - 1);
                let windows = inbox.windows();
                assert!(windows.contains(&buffer(second)));
                if first.abs_diff(second) == 1 {
                    inbox.turn_to(buffer(first).start());
                    let windows = inbox.windows();
                    assert!(windows.contains(&buffer(first)) && windows.contains(&buffer(second)));
                }
            }
        }
        assert!(!inbox.turn_to(buffer(0).start()) && !inbox.turn_to(buffer(MAX_PROCESSES).start()));
    }

    /// With one pair of entries an access to any open buffer faults once.
    #[test]
    #[cfg(feature = "pmp-8")]
    fn one_open_buffer_is_accessible_at_a_time() {
        let mut inbox = Inbox::new();
        for owner in 1..MAX_PROCESSES {
            inbox.offer(owner, buffer(owner));
            inbox.open(owner);
        }
        for owner in [2, 1, 3, 2, 2] {
            inbox.turn_to(buffer(owner).start());
            assert_eq!(inbox.windows(), [buffer(owner); WINDOWS]);
            assert!(!inbox.turn_to(buffer(owner).end() - 4), "it is there");
        }
    }

    #[test]
    #[cfg(not(any(feature = "eight", feature = "pmp-8")))]
    fn the_pmp_has_room_for_all() {
        let mut inbox = Inbox::new();
        for owner in 1..MAX_PROCESSES {
            inbox.offer(owner, buffer(owner));
            inbox.open(owner);
        }
        assert!((1..MAX_PROCESSES).all(|owner| inbox.windows().contains(&buffer(owner))));
        assert!(!inbox.turn_to(buffer(1).start()));
    }

    proptest! {
        /// For any order of offers and opens, the accessible buffers are exactly those that are offered
        /// now, were opened since, and are aligned. (Process 3 is the receiver: it offers nothing.)
        #[test]
        fn only_what_is_offered_is_open(
            steps in proptest::collection::vec((0..3usize, any::<bool>(), 0..64u32, 0..64u32), 0..40),
        ) {
            let mut inbox = Inbox::new();
            let mut model = [(Region::EMPTY, false); 3];
            for (owner, opens, start, length) in steps {
                if opens {
                    let region = model[owner].0;
                    let good = region.start() % 4 == 0 && region.end() % 4 == 0
                        && region.length() > 0;
                    model[owner].1 |= good;
                    prop_assert_eq!(inbox.open(owner), if good { region } else { Region::EMPTY });
                } else {
                    let region = Region::new(start, start + length);
                    model[owner] = (region, false);
                    inbox.offer(owner, region);
                }
                let expected: Vec<Region> =
                    model.iter().filter(|(_, open)| *open).map(|(region, _)| *region).collect();
                let windows = inbox.windows();
                let seen = expected.len().min(WINDOWS);
                prop_assert_eq!(&windows[..seen], &expected[..seen]);
                prop_assert!(windows[seen..].iter().all(|rest| *rest == Region::EMPTY));
                prop_assert_eq!(inbox.is_closed(), expected.is_empty());
            }
        }
    }
}
