// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Upcalls that wait for their process to yield: a short queue, oldest first.
//!
//! The queue is bounded, so no driver can make the kernel run out of memory; an upcall that finds no
//! room is dropped and its driver is told.

use crate::abi::ErrorCode;

/// Which upcall of which driver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UpcallId {
    pub driver: u32,
    pub number: u32,
}

/// An event that a driver reports to a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Upcall {
    pub id: UpcallId,
    pub arguments: [u32; 3],
}

/// How many upcalls a process can have waiting.
pub const CAPACITY: usize = 8;

/// How many of these places other processes' notifications leave free: else a process that notifies
/// without end could take another's alarm or console away.
pub const RESERVED: usize = 3;

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

    /// The same for what another process sends.
    pub fn push_foreign(&mut self, upcall: Upcall) -> Result<(), ErrorCode> {
        match self.length < CAPACITY - RESERVED {
            true => self.push(upcall),
            false => Err(ErrorCode::NoMemory),
        }
    }

    pub fn pop(&mut self) -> Option<Upcall> {
        self.take(0)
    }

    /// Takes the oldest upcall with this id, wherever it stands.
    pub fn pop_id(&mut self, id: UpcallId) -> Option<Upcall> {
        let index = self.iter().position(|upcall| upcall.id == id)?;
        self.take(index)
    }

    pub fn is_empty(&self) -> bool {
        self.length == 0
    }

    /// Forgets all upcalls with this id.
    pub fn cancel(&mut self, id: UpcallId) {
        while self.pop_id(id).is_some() {}
    }

    pub fn clear(&mut self) {
        self.length = 0;
    }

    pub fn iter(&self) -> impl Iterator<Item = &Upcall> {
        self.entries.iter().take(self.length)
    }

    fn take(&mut self, index: usize) -> Option<Upcall> {
        let queue = self.entries.get_mut(index..self.length)?;
        let upcall = *queue.first()?;
        queue.rotate_left(1);
        self.length -= 1;
        Some(upcall)
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
        let serials: Vec<u32> = queue.iter().map(|upcall| upcall.arguments[0]).collect();
        assert_eq!(serials, [0, 1, 2, 3, 4, 5, 6, 7]);
    }

    #[test]
    fn what_others_send_leaves_room() {
        let mut queue = Queue::new();
        while queue.push_foreign(upcall(0, 0)).is_ok() {}
        let own = (0..CAPACITY).take_while(|_| queue.push(upcall(1, 0)).is_ok());
        assert_eq!(own.count(), RESERVED);
    }

    proptest! {
        /// Any sequence of operations gives what a plain list gives.
        #[test]
        fn it_behaves_as_a_list(steps in proptest::collection::vec((0..5u8, 0..3u32), 0..64)) {
            let mut queue = Queue::new();
            let mut model: VecDeque<Upcall> = VecDeque::new();
            for (serial, (step, number)) in steps.into_iter().enumerate() {
                let one = upcall(number, serial as u32);
                match step {
                    0 => {
                        let fits = model.len() < CAPACITY;
                        prop_assert_eq!(queue.push(one).is_ok(), fits);
                        if fits { model.push_back(one) }
                    }
                    1 => {
                        let fits = model.len() < CAPACITY - RESERVED;
                        prop_assert_eq!(queue.push_foreign(one).is_ok(), fits);
                        if fits { model.push_back(one) }
                    }
                    2 => prop_assert_eq!(queue.pop(), model.pop_front()),
                    3 => {
                        let index = model.iter().position(|other| other.id == one.id);
                        prop_assert_eq!(queue.pop_id(one.id), index.and_then(|i| model.remove(i)));
                    }
                    _ => {
                        queue.cancel(one.id);
                        model.retain(|other| other.id != one.id);
                    }
                }
                prop_assert!(queue.iter().eq(model.iter()));
                prop_assert_eq!(queue.is_empty(), model.is_empty());
            }
        }
    }
}
