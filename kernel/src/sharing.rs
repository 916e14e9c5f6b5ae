// SPDX-License-Identifier: Apache-2.0 OR MIT

//! What other processes share with one process: from each of them at most one buffer, and which of
//! these the process can reach.
//!
//! A buffer is out of reach until its owner has notified the process and the process takes that
//! notification. From then on the PMP opens it, as one more region beside the process's own, until
//! the owner takes it back, shares another in its place, or ends. There is a region for every other
//! process, so one is never wanting; but the PMP deals in whole words, and rounding a buffer up would
//! open bytes that nobody shared. One that is not aligned stays closed, and the notification says
//! that there is nothing.

use crate::region::Region;
use crate::slots::MAX_PROCESSES;

/// How many shared buffers a process can reach at a time: one of each other process.
pub const WINDOWS: usize = MAX_PROCESSES - 1;

pub struct Inbox {
    /// By the index of the owner.
    offers: [Region; MAX_PROCESSES],
    /// Bit N: the process reaches what process N offers.
    open: u8,
    /// The PMP does not know yet.
    moved: bool,
}

impl Inbox {
    pub const fn new() -> Inbox {
        Inbox {
            offers: [Region::EMPTY; MAX_PROCESSES],
            open: 0,
            moved: false,
        }
    }

    /// Process `owner` shares this now; what it shared before is out of reach.
    pub fn offer(&mut self, owner: usize, buffer: Region) {
        self.offers[owner] = buffer;
        self.open &= !(1 << owner);
    }

    /// The buffer that `owner` shares, which the process reaches from now on; empty if there is none.
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

    /// Closes all. What is offered can be opened again.
    pub fn close(&mut self) {
        self.open = 0;
        self.moved = false;
    }

    pub fn is_closed(&self) -> bool {
        self.open == 0
    }

    /// Is there something that the PMP has to be told? Asked once: the answer turns to no.
    pub fn take_moved(&mut self) -> bool {
        core::mem::take(&mut self.moved)
    }

    /// What the process reaches; places that are not needed are empty.
    pub fn windows(&self) -> [Region; WINDOWS] {
        let mut windows = [Region::EMPTY; WINDOWS];
        let offers = self.offers.iter().enumerate();
        let open = offers.filter(|(owner, _)| self.open & 1 << owner != 0);
        for (window, (_, offer)) in windows.iter_mut().zip(open) {
            *window = *offer;
        }
        windows
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

    proptest! {
        /// Whatever is offered and opened in whatever order, exactly what is offered now, was opened
        /// since, and is aligned can be reached. (Process 3 is the receiver: it offers nothing.)
        #[test]
        fn only_what_is_offered_is_open(
            steps in proptest::collection::vec((0..3usize, any::<bool>(), 0..64u32, 0..64u32), 0..40),
        ) {
            let mut inbox = Inbox::new();
            let mut model = [(Region::EMPTY, false); WINDOWS];
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
                prop_assert_eq!(&windows[..expected.len()], &expected[..]);
                prop_assert!(windows[expected.len()..].iter().all(|rest| *rest == Region::EMPTY));
                prop_assert_eq!(inbox.is_closed(), expected.is_empty());
            }
        }
    }
}
