// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The protocol between the client of the group ipc2, its server and its rivals, over the relay;
//! apps/c/orders.h is the same in C, and describes it.

use core::sync::atomic::{AtomicU32, Ordering::Relaxed};

use crate::rows::ipc2_round_trip;

pub const SERVER_STRING: &[u8] = b"tockmark ipc2 server";
pub const SERVER_PACKAGE: &[u8] = b"ipc2_server";
pub const RIVALS: [&[u8]; 2] = [b"ipc2_rival", b"ipc2_rival2"];

/// Words of the largest request.
pub const WORDS: usize = ipc2_round_trip::size::MAX as usize / 4;

/// Answers to others, in a contest, before the server gives up.
pub const STARVED: u32 = 48;
pub const OBEYED: u32 = 0x0b3e_7edd;

/// The server's treatment of the requests that follow an order.
pub mod task {
    pub const ECHO: u32 = 0;
    pub const STAMP: u32 = 1;
    pub const CONTEST: u32 = 2;
}

/// The words of an order, by index.
pub mod order {
    pub const IS: u32 = 0x0de4_0de4; // the value of the first word
    pub const MARK: usize = 0;
    pub const TASK: usize = 1;
    pub const SIZE: usize = 2;
    pub const CHECK: usize = 3;
    pub const OF: usize = 4;
    pub const ANSWERS: usize = 5;
    pub const WORDS: usize = 6;
    pub const WHO_ORDERS: u32 = 0xffff_ffff;
}

/// The words of the answer to a STAMP.
pub mod note {
    pub const AT: usize = 0; // two
    pub const LENGTH: usize = 2;
    pub const SUM: usize = 3;
    pub const WORDS: usize = 4;
}

/// The words of the answer that ends a CONTEST.
pub mod score {
    pub const FROM: usize = 0; // two
    pub const TO: usize = 2; // two
    pub const ENOUGH: usize = 4;
    pub const WORDS: usize = 5;
}

pub type Message<const N: usize> = [AtomicU32; N];

/// A message of zeros.
pub const fn message<const N: usize>() -> Message<N> {
    [const { AtomicU32::new(0) }; N]
}

/// Returns a sum that depends on the order of the words: of all words, or of the two ends.
pub fn sum_of(words: &[AtomicU32], all: bool) -> u32 {
    let step = if all || words.len() < 2 {
        1
    } else {
        words.len() - 1
    };
    let summed = words.iter().step_by(step);
    summed.fold(words.len() as u32, |sum, word| {
        sum.wrapping_mul(31).wrapping_add(word.load(Relaxed))
    })
}
