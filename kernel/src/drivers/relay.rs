// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The relay, driver 0xA0010: a client sends a request to a service, which takes it and responds. The kernel
//! copies request and response, from the sender's read-only buffer 0 to the receiver's read-write buffer 0,
//! as many bytes as both have. Version 2 only.
//!
//! | command | arguments | reply | meaning |
//! |---|---|---|---|
//! | 0 | - | success | the driver exists |
//! | 0x10 | id | success | sends a request to that service; ALREADY if the caller has sent one or owes a response, NODEVICE if there is no such process, UNINSTALLED if it accepts no requests |
//! | 0x11 | - | success | cancels the caller's request; INVAL if there is none |
//! | 0x20, 0x21 | - | success | starts, stops accepting requests; stopping answers all clients with UNINSTALLED |
//! | 0x22 | - | u32, u64 | takes the next request: its length and its client; SIZE and the client, if it was longer than the caller's buffer; NODEVICE if there is none; ALREADY if the caller has sent a request or owes a response |
//! | 0x23 | id | u32, u64 | takes the request of that client |
//! | 0x24 | - | success | responds to the request that was taken last; INVAL if there is none, NODEVICE if its client no longer waits |
//!
//! An id is two words: [`Process::id`] and 0. Upcall 0 gives a client its response: (0, length, 0). Its
//! first argument is SIZE if the response was longer than the client's buffer, CANCEL or UNINSTALLED if
//! there is no response. Upcall 1 gives a service the client of a new request: (id, 0).
//!
//! Interrupts are off in the kernel, so one command copies only a part; the process makes the command again
//! until all is copied. Meanwhile other processes run, and may take buffers away, cancel or end: each part
//! uses the state of that moment.
//!
//! On Tock, a client of a service that ends is never answered, a client that cancels a taken request and
//! sends another gets the first one's response, and several upcalls may report the same request.
//!
//! [`Process::id`]: crate::process::Process::id

use super::call::{Answer, Call, Then};
use crate::abi::{ErrorCode, Return, UpcallId};
use crate::process::{Processes, index_of};
use crate::slots::{MAX_PROCESSES, OwnUpcall, RELAY_IN, RELAY_OUT};
use crate::umem::copy;

pub use crate::slots::RELAY as NUMBER;

const ANSWER: OwnUpcall = OwnUpcall::new(NUMBER, 0);

const REQUEST: UpcallId = UpcallId {
    driver: NUMBER,
    number: 1,
};

/// A process's use of the relay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Doing {
    Nothing,
    /// It has sent a request to the service with this index.
    Asks(usize),
    /// It is taking the request of the client with this index; this many bytes are copied.
    Takes(usize, u32),
    /// It owes that client a response. None: the client no longer waits for it.
    Owes(Option<usize>),
    /// It is responding; this many bytes are copied.
    Responds(usize, u32),
}

pub struct Relay {
    doing: [Doing; MAX_PROCESSES],
    /// Does each process accept requests?
    enabled: [bool; MAX_PROCESSES],
    /// The index at which each service starts its search for the next request: after the last client.
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

    /// Carries out a command. None: it is not finished, and the caller has to make it again.
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

    /// Drops the request, and what it owed, of a process that has ended.
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

    /// Cancels this client's request. The service that has it owes no response.
    fn leave(&mut self, client: usize) {
        if let Doing::Asks(service) = self.doing[client] {
            self.doing[client] = Doing::Nothing;
            let doing = &mut self.doing[service];
            match *doing {
                // The service makes its command again, which then takes another request.
                Doing::Takes(owner, _) if owner == client => *doing = Doing::Nothing,
                Doing::Owes(Some(owner)) | Doing::Responds(owner, _) if owner == client => {
                    *doing = Doing::Owes(None);
                }
                _ => {}
            }
        }
    }

    /// Stops accepting requests, and drops the response that it owes.
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

    /// Returns that client, if it has sent a request to this service.
    fn client(&self, service: usize, client: Option<usize>) -> Option<usize> {
        client.filter(|client| self.doing[*client] == Doing::Asks(service))
    }

    /// Returns the next client of this service.
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

/// The length of a request or response that was copied: all of it, or only what the buffer had room for.
enum Length {
    Whole(u32),
    Cut(u32),
}

/// Copies the next part from one process to another. An error is the number of bytes copied so far.
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

/// Queues a client's response. It may be lost if the last one still waits.
fn tell(client: usize, words: [u32; 3], processes: &mut Processes) {
    let _ = processes[client].schedule(ANSWER, words);
}

/// Returns the index of the living process with this id.
fn living([low, high]: [u32; 2], processes: &Processes) -> Option<usize> {
    index_of(low, processes).filter(|_| high == 0)
}
