// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Upcalls that wait for their process to yield: a short queue, oldest first.
//!
//! The queue is bounded, so no driver can exhaust the kernel's memory. Everyone has places of their own:
//! each upcall of [`OWN_UPCALLS`] one, each other process some. So an upcall is refused only if an
//! equal one or others of its sender wait, and its driver gets an error.

use crate::abi::{ErrorCode, UpcallId};
use crate::slots::{MAX_PROCESSES, OWN_UPCALLS};

/// An event that a driver reports to a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Upcall {
    pub id: UpcallId,
    pub arguments: [u32; 3],
}

/// The most upcalls that can wait for a process: each of its own, repeats of these, and upcalls that each
/// other process sends.
pub const CAPACITY: usize =
    OWN_UPCALLS.len() + REPEATS + (MAX_PROCESSES - 1) * (PER_SENDER + REQUESTS);

/// If an equal upcall waits already, another one fits only if at most this number wait. So no repeat takes
/// the place of another upcall.
pub const REPEATS: usize = 3;

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

    /// Queues an upcall of the process's own.
    #[inline]
    pub fn push_own(&mut self, upcall: Upcall) -> Result<(), ErrorCode> {
        if self.length > REPEATS && self.iter().any(|other| other.id == upcall.id) {
            return Err(ErrorCode::NoMemory);
        }
        self.push(upcall)
    }

    fn push(&mut self, upcall: Upcall) -> Result<(), ErrorCode> {
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
    #[inline(never)]
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
    use crate::slots::IPC;
    #[cfg(not(feature = "abi-v1"))]
    use crate::slots::RELAY;
    use proptest::prelude::*;
    use std::collections::VecDeque;

    /// An upcall of the process's own.
    fn own(kind: usize, serial: u32) -> Upcall {
        Upcall {
            id: OWN_UPCALLS[kind],
            arguments: [serial, 0, 0],
        }
    }

    /// A notification, or the request, from a process.
    fn sent(driver: u32, number: u32, sender: u32) -> Upcall {
        Upcall {
            id: UpcallId { driver, number },
            arguments: [sender, 0, 0],
        }
    }

    /// Everyone's first upcalls fit after a flood of any own upcall.
    #[test]
    fn a_queue_has_a_place_for_everyone() {
        for flood in 0..OWN_UPCALLS.len() {
            let mut queue = Queue::new();
            let repeats = (0..99).take_while(|at| queue.push_own(own(flood, *at)).is_ok());
            assert_eq!(repeats.count(), REPEATS + 1);
            for sender in 1..MAX_PROCESSES as u32 {
                // By two upcalls in turn, as a client and as a service.
                let places =
                    (0..99).take_while(|at| queue.push_foreign(sent(IPC, at % 2, sender)).is_ok());
                assert_eq!(places.count(), PER_SENDER);
                #[cfg(not(feature = "abi-v1"))]
                for serial in [0, 1, 7] {
                    let request = sent(RELAY, 1, sender + MAX_PROCESSES as u32 * serial);
                    assert_eq!(queue.push_request(request), Ok(()));
                    assert_eq!(queue.iter().last(), Some(&request));
                }
            }
            for kind in (0..OWN_UPCALLS.len()).filter(|kind| *kind != flood) {
                assert_eq!(queue.push_own(own(kind, 0)), Ok(()));
                assert_eq!(queue.push_own(own(kind, 1)), Err(ErrorCode::NoMemory));
            }
            assert_eq!(queue.length, CAPACITY);
        }
    }

    proptest! {
        /// Any sequence of operations has the same result as on a plain list without an end. So no
        /// upcall that the limits allow is refused.
        #[test]
        fn the_queue_behaves_like_a_list(
            steps in proptest::collection::vec(
                (0..8u8, 0..OWN_UPCALLS.len(), 1..MAX_PROCESSES as u32),
                0..200,
            ),
        ) {
            let mut queue = Queue::new();
            let mut model: VecDeque<Upcall> = VecDeque::new();
            for (serial, (step, kind, sender)) in (0..).zip(steps) {
                let new = own(kind, serial);
                match step {
                    0..3 => {
                        let waits = model.iter().any(|other| other.id == new.id);
                        let fits = model.len() <= REPEATS || !waits;
                        prop_assert_eq!(queue.push_own(new).is_ok(), fits);
                        if fits { model.push_back(new) }
                    }
                    3 => {
                        let new = sent(IPC, kind as u32 % 4, sender);
                        let is_its = |other: &&Upcall| {
                            other.id.driver == IPC && other.arguments[0] == sender
                        };
                        let fits = model.iter().filter(is_its).count() < PER_SENDER;
                        prop_assert_eq!(queue.push_foreign(new).is_ok(), fits);
                        if fits { model.push_back(new) }
                    }
                    #[cfg(not(feature = "abi-v1"))]
                    4 => {
                        let places = MAX_PROCESSES as u32;
                        let new = sent(RELAY, 1, sender + places * serial);
                        let is_its = |other: &&mut Upcall| {
                            other.id == new.id && other.arguments[0] % places == sender
                        };
                        prop_assert_eq!(queue.push_request(new), Ok(()));
                        match model.iter_mut().find(is_its) {
                            Some(other) => *other = new,
                            None => model.push_back(new),
                        }
                    }
                    5 => {
                        let wanted = |id| (id == new.id).then_some(7);
                        let first = model.iter().position(|other| other.id == new.id);
                        if first == Some(0) {
                            let taken = model.pop_front().map(|upcall| (upcall, 7));
                            prop_assert_eq!(queue.pop_first(wanted), taken);
                        } else {
                            prop_assert_eq!(queue.pop_first(wanted), None);
                            model.drain(..first.unwrap_or(model.len()));
                            let taken = model.pop_front().map(|upcall| (upcall, 7));
                            prop_assert_eq!(queue.pop(wanted), taken);
                        }
                    }
                    6 => {
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
