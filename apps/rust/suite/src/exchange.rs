// SPDX-License-Identifier: Apache-2.0 OR MIT

//! What the client of the group ipc and its server say to each other: the buffer that the client
//! shares, once, since on Tock a server sees no more than two in its life. apps/c/exchange.h is the
//! same for C, and says how an exchange goes.

use core::sync::atomic::AtomicU32;

use crate::rows::ipc_bandwidth;

pub const SERVER_NAME: &str = "ipc_server";

/// Words of the largest payload.
pub const PAYLOAD: usize = ipc_bandwidth::size::MAX as usize / 4;

/// What the server does when notified. It takes a new role after the exchange that asks for it.
#[derive(Clone, Copy, PartialEq, Eq)]
#[repr(u32)]
pub enum Role {
    /// Answers.
    Echo,
    /// Reads the counters, answers.
    Stamp,
    /// Reads the counters, answers, then again when the reading is written down.
    Send,
    /// Copies the payload, reads the counters, answers.
    Copy,
}

impl Role {
    pub const ALL: [Self; 4] = [Self::Echo, Self::Stamp, Self::Send, Self::Copy];
}

/// The words of the buffer, by their place.
pub mod word {
    // The client's.
    pub const SEQ: usize = 0;
    pub const ROLE: usize = 1;
    /// Version 1: by which Perf command to read, from the next exchange on.
    pub const COUNTER: usize = 2;
    /// Bytes of the payload to copy.
    pub const SIZE: usize = 3;
    /// Compare all of the copy, not just its ends.
    pub const CHECK: usize = 4;
    // The server's.
    /// The seq that the reading belongs to.
    pub const SEEN: usize = 5;
    pub const FIRST: usize = 6;
    pub const SECOND: usize = 7;
    /// The copy is a copy.
    pub const GOOD: usize = 8;
    pub const PAYLOAD: usize = 9;
}

pub const WORDS: usize = word::PAYLOAD + PAYLOAD;

/// The buffer, where it is the client's own.
pub type Exchange = [AtomicU32; WORDS];
