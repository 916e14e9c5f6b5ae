// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The relay of requests, driver 0xA0010: a client asks a service, which takes the request and responds;
//! the kernel copies both ways, from the one's read-only buffer 0 to the other's read-write buffer 0, as
//! much as both have. Version 2 only.
//!
//! | command | arguments | reply | meaning |
//! |---|---|---|---|
//! | 0 | - | success | the driver is there |
//! | 0x10 | id | success | asks that service; ALREADY if the caller asks or owes an answer, NODEVICE if there is none such, UNINSTALLED if it takes no requests, NOMEM if too much waits for it |
//! | 0x11 | - | success | asks no more; INVAL if it does not |
//! | 0x20, 0x21 | - | success | from now on takes requests, or takes none: who asks is answered UNINSTALLED |
//! | 0x22 | - | u32, u64 | takes the next request: its length, and whose it is; SIZE and whose, if it was longer than the caller's buffer; NODEVICE if there is none; ALREADY if the caller asks or owes an answer |
//! | 0x23 | id | u32, u64 | takes the request of that client |
//! | 0x24 | - | success | responds to what was taken last; INVAL if nothing was, NODEVICE if nobody waits for it any more |
//!
//! An id is two words, of which the first is [`Process::id`] and the second 0. Upcall 0 brings a client its
//! answer: (0, length, 0), SIZE in the first place if it was longer than the client's buffer, CANCEL or
//! UNINSTALLED if it gets none. Upcall 1 tells a service whose request there is: (id, 0).
//!
//! Interrupts are off in the kernel, so it copies a part, and has the process make the command again until
//! all is copied. Meanwhile others run, and may take buffers away, cancel or end: each part goes
//! by what there is then.
//!
//! Where Tock does otherwise: there who asks a service that ends is never answered; who cancels what was
//! taken and asks anew is given the answer to the first request; and several upcalls may say that one client has a request.
//!
//! [`Process::id`]: crate::process::Process::id

use super::call::{Answer, Call, Then};
use crate::abi::{ErrorCode, Return, UpcallId};
use crate::process::{Processes, place_of};
use crate::slots::{MAX_PROCESSES, RELAY_IN, RELAY_OUT};
use crate::umem::copy;

pub use crate::slots::RELAY as NUMBER;

const ANSWER: UpcallId = UpcallId {
    driver: NUMBER,
    number: 0,
};

const REQUEST: UpcallId = UpcallId {
    driver: NUMBER,
    number: 1,
};

/// What a process has under way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Doing {
    Nothing,
    /// It asks the service in this place.
    Asks(usize),
    /// It takes the request of the client in this place, of which so many bytes are there.
    Takes(usize, u32),
    /// It owes that client an answer; none: the client does not wait for it any more.
    Owes(Option<usize>),
    /// It answers; so many bytes are there.
    Responds(usize, u32),
}

pub struct Relay {
    doing: [Doing; MAX_PROCESSES],
    /// Who takes requests.
    enabled: [bool; MAX_PROCESSES],
    /// Where a service looks first for the next request: behind the last one's client.
    next: [usize; MAX_PROCESSES],
}

impl Relay {
    pub const fn new() -> Relay {
        Relay {
            doing: [Doing::Nothing; MAX_PROCESSES],
            enabled: [false; MAX_PROCESSES],
            next: [0; MAX_PROCESSES],
        }
    }

    /// None: there is more to be done for it.
    pub fn command(&mut self, call: Call, processes: &mut Processes) -> Option<Answer> {
        let caller = call.process;
        let id = call.arguments;
        let (result, then) = match call.number {
            0 => (Ok(()), Then::Nothing),
            0x10 => (self.ask(caller, id, processes), Then::MakeRoom),
            0x11 => (self.cancel(caller, processes), Then::Nothing),
            0x20 => {
                self.enabled[caller] = true;
                (Ok(()), Then::Nothing)
            }
            0x21 => {
                self.disable(caller, processes);
                (Ok(()), Then::MakeRoom)
            }
            0x22 => return self.take(caller, self.next_client(caller), processes),
            0x23 => {
                let client = self.client(caller, living(id, processes));
                return self.take(caller, client, processes);
            }
            0x24 => return self.respond(caller, processes),
            _ => (Err(ErrorCode::NoSupport), Then::Nothing),
        };
        Some((result.into(), then))
    }

    /// Drops what a process that has ended had under way.
    pub fn forget(&mut self, process: usize, processes: &mut Processes) {
        self.disable(process, processes);
        self.leave(process);
        self.next[process] = 0;
    }

    fn ask(
        &mut self,
        caller: usize,
        id: [u32; 2],
        processes: &mut Processes,
    ) -> Result<(), ErrorCode> {
        if self.doing[caller] != Doing::Nothing {
            return Err(ErrorCode::Already);
        }
        let service = living(id, processes).filter(|service| *service != caller);
        let service = service.ok_or(ErrorCode::NoDevice)?;
        if !self.enabled[service] {
            return Err(ErrorCode::Uninstalled);
        }
        let own = processes[caller].id(caller);
        processes[service].notify_of_request(REQUEST, [own, 0, 0])?;
        self.doing[caller] = Doing::Asks(service);
        Ok(())
    }

    fn cancel(&mut self, caller: usize, processes: &mut Processes) -> Result<(), ErrorCode> {
        let Doing::Asks(_) = self.doing[caller] else {
            return Err(ErrorCode::Invalid);
        };
        self.leave(caller);
        processes[caller].schedule(ANSWER, [ErrorCode::Cancel as u32, 0, 0])
    }

    /// This process asks nobody any more; who has its request owes no answer.
    fn leave(&mut self, client: usize) {
        if let Doing::Asks(service) = self.doing[client] {
            self.doing[client] = Doing::Nothing;
            let doing = &mut self.doing[service];
            match *doing {
                // It makes the command again, which then takes another request.
                Doing::Takes(of, _) if of == client => *doing = Doing::Nothing,
                Doing::Owes(Some(of)) | Doing::Responds(of, _) if of == client => {
                    *doing = Doing::Owes(None);
                }
                _ => {}
            }
        }
    }

    /// Takes no more requests, and has nothing to answer.
    fn disable(&mut self, service: usize, processes: &mut Processes) {
        self.enabled[service] = false;
        if !matches!(self.doing[service], Doing::Asks(_)) {
            self.doing[service] = Doing::Nothing;
        }
        for (client, doing) in self.doing.iter_mut().enumerate() {
            if *doing == Doing::Asks(service) {
                *doing = Doing::Nothing;
                tell(client, [ErrorCode::Uninstalled as u32, 0, 0], processes);
            }
        }
    }

    /// That client, if it asks this service.
    fn client(&self, service: usize, client: Option<usize>) -> Option<usize> {
        client.filter(|client| self.doing[*client] == Doing::Asks(service))
    }

    /// The client whose turn it is.
    fn next_client(&self, service: usize) -> Option<usize> {
        let first = self.next[service];
        let mut turns = (first..first + MAX_PROCESSES).map(|turn| turn % MAX_PROCESSES);
        turns.find(|client| self.doing[*client] == Doing::Asks(service))
    }

    fn take(
        &mut self,
        service: usize,
        client: Option<usize>,
        processes: &mut Processes,
    ) -> Option<Answer> {
        let refused = |error| Some((Return::FailureU64(error, 0), Then::Nothing));
        let (client, done) = match (self.doing[service], client) {
            (Doing::Takes(client, done), _) => (client, done),
            (Doing::Nothing, Some(client)) => (client, 0),
            (Doing::Nothing, None) => return refused(ErrorCode::NoDevice),
            (Doing::Owes(_) | Doing::Asks(_) | Doing::Responds(..), _) => {
                return refused(ErrorCode::Already);
            }
        };
        let length = match carry(client, service, done, processes) {
            Ok(length) => length,
            Err(done) => {
                self.doing[service] = Doing::Takes(client, done);
                return None;
            }
        };
        self.next[service] = client + 1;
        self.doing[service] = Doing::Owes(Some(client));
        let id = u64::from(processes[client].id(client));
        let result = match length {
            Length::Whole(length) => Return::U32AndU64(length, id),
            Length::Cut(_) => Return::FailureU64(ErrorCode::Size, id),
        };
        Some((result, Then::Nothing))
    }

    fn respond(&mut self, service: usize, processes: &mut Processes) -> Option<Answer> {
        let refused = |error| Some((Return::Failure(error), Then::Nothing));
        let (client, done) = match self.doing[service] {
            Doing::Owes(Some(client)) => (client, 0),
            Doing::Responds(client, done) => (client, done),
            Doing::Owes(None) => {
                self.doing[service] = Doing::Nothing;
                return refused(ErrorCode::NoDevice);
            }
            Doing::Nothing | Doing::Asks(_) | Doing::Takes(..) => {
                return refused(ErrorCode::Invalid);
            }
        };
        let (status, length) = match carry(service, client, done, processes) {
            Ok(Length::Whole(length)) => (0, length),
            Ok(Length::Cut(length)) => (ErrorCode::Size as u32, length),
            Err(done) => {
                self.doing[service] = Doing::Responds(client, done);
                return None;
            }
        };
        self.doing[service] = Doing::Nothing;
        self.doing[client] = Doing::Nothing;
        tell(client, [status, length, 0], processes);
        Some((Return::Success, Then::MakeRoom))
    }
}

impl Default for Relay {
    fn default() -> Relay {
        Relay::new()
    }
}

/// What has come of a request or an answer: all of it, or as much as there was room for.
enum Length {
    Whole(u32),
    Cut(u32),
}

/// Copies a part from one process to another, of what is not there yet; an error is how much of it is.
fn carry(from: usize, to: usize, done: u32, processes: &Processes) -> Result<Length, u32> {
    let (out, room) = (
        processes[from].read_only[RELAY_OUT],
        processes[to].read_write[RELAY_IN],
    );
    let done = done + copy(out, room, done);
    match out.length().min(room.length()) {
        length if done < length => Err(done),
        length if length < out.length() => Ok(Length::Cut(length)),
        length => Ok(Length::Whole(length)),
    }
}

/// Brings a client its answer. One that has filled its queue with upcalls of its own may lose it.
fn tell(client: usize, words: [u32; 3], processes: &mut Processes) {
    let _ = processes[client].schedule(ANSWER, words);
}

/// The place of the living process that an id names.
fn living([low, high]: [u32; 2], processes: &Processes) -> Option<usize> {
    place_of(low, processes).filter(|_| high == 0)
}
