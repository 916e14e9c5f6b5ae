// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The protocol between the client of the group ipc and its server: the buffer that the client shares once,
//! since on Tock a server sees at most two buffers in its life. apps/c/exchange.h is the same in C, and
//! describes an exchange.

use core::sync::atomic::AtomicU32;

use crate::rows::ipc_bandwidth;

pub const SERVER_NAME: &str = "ipc_server";

/// Words of the largest payload.
pub const PAYLOAD: usize = ipc_bandwidth::size::MAX as usize / 4;

/// The server's reaction to a notification. It changes its role after the exchange that requests the change.
#[derive(Clone, Copy, PartialEq, Eq)]
#[repr(u32)]
pub enum Role {
    /// Answers.
    Echo,
    /// Reads the counters, answers.
    Stamp,
    /// Reads the counters, answers, and answers again after writing the reading down.
    Send,
    /// Copies the payload, reads the counters, answers.
    Copy,
}

impl Role {
    pub const ALL: [Self; 4] = [Self::Echo, Self::Stamp, Self::Send, Self::Copy];
}

/// The words of the buffer, by index.
pub mod word {
    // The client's.
    pub const SEQ: usize = 0;
    pub const ROLE: usize = 1;
    /// Version 1: the Perf command to read with, from the next exchange on.
    pub const COUNTER: usize = 2;
    /// Bytes of the payload to copy.
    pub const SIZE: usize = 3;
    /// Compare the whole copy, not just its ends.
    pub const CHECK: usize = 4;
    // The server's.
    /// The seq of the exchange in which the reading was taken.
    pub const SEEN: usize = 5;
    pub const FIRST: usize = 6;
    pub const SECOND: usize = 7;
    /// The copy is equal to the payload.
    pub const GOOD: usize = 8;
    pub const PAYLOAD: usize = 9;
}

pub const WORDS: usize = word::PAYLOAD + PAYLOAD;

/// The buffer, in the client.
pub type Exchange = [AtomicU32; WORDS];
