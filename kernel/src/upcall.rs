// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Upcalls that wait for their process to yield: a short queue, oldest first.
//!
//! The queue is bounded, so no driver can exhaust the kernel's memory. An upcall that does not fit is
//! dropped, and its driver gets an error.

use crate::abi::{ErrorCode, UpcallId};
use crate::slots::MAX_PROCESSES;

/// An event that a driver reports to a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Upcall {
    pub id: UpcallId,
    pub arguments: [u32; 3],
}

/// The most upcalls that can wait for a process: its own, and those that each other process sends.
pub const CAPACITY: usize = OWN + (MAX_PROCESSES - 1) * (PER_SENDER + REQUESTS);

/// The number of these entries that other processes cannot use: one per driver that reports to a process.
pub const OWN: usize = if cfg!(feature = "abi-v1") { 3 } else { 4 };

/// How many entries each other process can use. So a process that notifies without end cannot block the
/// others.
pub const PER_SENDER: usize = 3;

/// Entries for requests by the relay, per other process: one is enough to report that there is one.
const REQUESTS: usize = if cfg!(feature = "abi-v1") { 0 } else { 1 };

pub struct Queue {
    // The first `length` entries, oldest first, are the queue.
    entries: [Upcall; CAPACITY],
    length: usize,
}

impl Queue {
    pub const fn new() -> Queue {
        let id = UpcallId {
            driver: 0,
            number: 0,
        };
        let arguments = [0; 3];
        Queue {
            entries: [Upcall { id, arguments }; CAPACITY],
            length: 0,
        }
    }

    pub fn push(&mut self, upcall: Upcall) -> Result<(), ErrorCode> {
        let free = self.entries.get_mut(self.length);
        *free.ok_or(ErrorCode::NoMemory)? = upcall;
        self.length += 1;
        Ok(())
    }

    /// Queues an upcall from another process, whose number is the upcall's first argument.
    pub fn push_foreign(&mut self, upcall: Upcall) -> Result<(), ErrorCode> {
        let sender = |other: &Upcall| (other.id.driver, other.arguments[0]);
        let own = |other: &&Upcall| sender(other) == sender(&upcall);
        match self.iter().filter(own).count() < PER_SENDER {
            true => self.push(upcall),
            false => Err(ErrorCode::NoMemory),
        }
    }

    /// Queues the upcall for a request. There is at most one per sender, with the newest arguments. The
    /// first argument is the sender's id; its remainder is the sender's index.
    #[cfg(not(feature = "abi-v1"))]
    pub fn push_request(&mut self, upcall: Upcall) -> Result<(), ErrorCode> {
        let sender = |other: &Upcall| (other.id, other.arguments[0] % MAX_PROCESSES as u32);
        let mut entries = self.entries.iter_mut().take(self.length);
        match entries.find(|other| sender(other) == sender(&upcall)) {
            Some(other) => {
                *other = upcall;
                Ok(())
            }
            None => self.push(upcall),
        }
    }

    /// Takes the oldest upcall if `wanted` returns something for it, and returns both.
    pub fn pop_first<T>(&mut self, wanted: impl Fn(UpcallId) -> Option<T>) -> Option<(Upcall, T)> {
        let upcall = *self.iter().next()?;
        let by = wanted(upcall.id)?;
        self.remove(0, 1);
        Some((upcall, by))
    }

    /// Takes the oldest upcall for which `wanted` returns something; drops those before it.
    pub fn pop<T>(&mut self, wanted: impl Fn(UpcallId) -> Option<T>) -> Option<(Upcall, T)> {
        let by = |(at, upcall): (_, &Upcall)| Some((at, *upcall, wanted(upcall.id)?));
        let first = self.iter().enumerate().find_map(by);
        let Some((at, upcall, by)) = first else {
            self.clear();
            return None;
        };
        self.remove(0, at + 1);
        Some((upcall, by))
    }

    /// Takes the oldest upcall with this id, at any position in the queue.
    pub fn pop_id(&mut self, id: UpcallId) -> Option<Upcall> {
        let at = self.iter().position(|upcall| upcall.id == id)?;
        let upcall = self.entries[at];
        self.remove(at, 1);
        Some(upcall)
    }

    pub fn is_empty(&self) -> bool {
        self.length == 0
    }

    /// Drops all upcalls except those that `keeps` selects.
    pub fn retain(&mut self, keeps: impl Fn(UpcallId) -> bool) {
        let mut kept = 0;
        for at in 0..self.length.min(CAPACITY) {
            let upcall = self.entries[at];
            if keeps(upcall.id) {
                self.entries[kept] = upcall;
                kept += 1;
            }
        }
        self.length = kept;
    }

    pub fn clear(&mut self) {
        self.length = 0;
    }

    pub fn iter(&self) -> impl Iterator<Item = &Upcall> {
        self.entries.iter().take(self.length)
    }

    /// Removes `count` upcalls, starting at index `at`.
    fn remove(&mut self, at: usize, count: usize) {
        let moved = at + count..self.length.min(CAPACITY);
        for (to, from) in (at..).zip(moved) {
            self.entries[to] = self.entries[from];
        }
        self.length -= count;
    }
}

impl Default for Queue {
    fn default() -> Queue {
        Queue::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::VecDeque;

    fn upcall(number: u32, serial: u32) -> Upcall {
        let id = UpcallId { driver: 1, number };
        Upcall {
            id,
            arguments: [serial, 0, 0],
        }
    }

    #[test]
    fn a_full_queue_refuses_and_keeps_what_it_has() {
        let mut queue = Queue::new();
        for serial in 0..CAPACITY as u32 {
            assert_eq!(queue.push(upcall(0, serial)), Ok(()));
        }
        assert_eq!(queue.push(upcall(0, 99)), Err(ErrorCode::NoMemory));
        assert_eq!(queue.push_foreign(upcall(0, 99)), Err(ErrorCode::NoMemory));
        let serials = queue.iter().map(|upcall| upcall.arguments[0]);
        assert!(serials.eq(0..CAPACITY as u32));
    }

    #[test]
    fn upcalls_from_others_leave_room() {
        let mut queue = Queue::new();
        for sender in 1..MAX_PROCESSES as u32 {
            let mut sent = 0;
            while queue.push_foreign(upcall(sender % 2, sender)).is_ok() {
                sent += 1;
            }
            assert_eq!(sent, PER_SENDER);
            #[cfg(not(feature = "abi-v1"))]
            for serial in [0, 1, 7] {
                let id = sender + MAX_PROCESSES as u32 * serial;
                assert_eq!(queue.push_request(upcall(2, id)), Ok(()));
                assert_eq!(queue.iter().last(), Some(&upcall(2, id)));
            }
        }
        let own = (0..CAPACITY).take_while(|_| queue.push(upcall(1, 0)).is_ok());
        assert_eq!(own.count(), OWN);
    }

    proptest! {
        /// Any sequence of operations has the same result as on a plain list.
        #[test]
        fn the_queue_behaves_like_a_list(steps in proptest::collection::vec((0..5u8, 0..3u32), 0..64)) {
            let mut queue = Queue::new();
            let mut model: VecDeque<Upcall> = VecDeque::new();
            for (serial, (step, number)) in steps.into_iter().enumerate() {
                let new = upcall(number, serial as u32);
                match step {
                    0 => {
                        let fits = model.len() < CAPACITY;
                        prop_assert_eq!(queue.push(new).is_ok(), fits);
                        if fits { model.push_back(new) }
                    }
                    1 => {
                        let new = Upcall { arguments: [number, 0, 0], ..new };
                        let sent = model.iter().filter(|other| other.arguments[0] == number);
                        let fits = sent.count() < PER_SENDER && model.len() < CAPACITY;
                        prop_assert_eq!(queue.push_foreign(new).is_ok(), fits);
                        if fits { model.push_back(new) }
                    }
                    2 => {
                        let wanted = |id| (id == new.id).then_some(7);
                        let first = model.iter().position(|other| other.id == new.id);
                        model.drain(..first.unwrap_or(model.len()));
                        let taken = model.pop_front().map(|upcall| (upcall, 7));
                        prop_assert_eq!(queue.pop(wanted), taken);
                    }
                    3 => {
                        let index = model.iter().position(|other| other.id == new.id);
                        prop_assert_eq!(queue.pop_id(new.id), index.and_then(|i| model.remove(i)));
                    }
                    _ => {
                        queue.retain(|id| id != new.id);
                        model.retain(|other| other.id != new.id);
                    }
                }
                prop_assert!(queue.iter().eq(model.iter()));
                prop_assert_eq!(queue.is_empty(), model.is_empty());
            }
        }
    }
}
