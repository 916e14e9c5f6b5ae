// SPDX-License-Identifier: Apache-2.0 OR MIT

//! What a driver is asked and what it answers. A command says who calls with what ([`Call`]); the
//! driver also gets the processes, to look into the caller's buffers and to report events. Its answer
//! says what follows from it besides the result ([`Then`]): whoever asked acts on that and need not
//! know drivers by number.

use crate::abi::Return;

/// A command to a driver.
#[derive(Clone, Copy)]
pub struct Call {
    /// Index of the calling process.
    pub process: usize,
    pub number: u32,
    pub arguments: [u32; 2],
}

/// What follows from a command.
#[derive(Clone, Copy)]
pub enum Then {
    /// Nothing: the caller goes on.
    Nothing,
    /// The next alarm may be another one: the timer is set to it.
    SetTimer,
    /// Another process may be ready now, and run before the caller.
    MakeRoom,
    /// The caller may have to wait before it goes on.
    Wait,
}

/// What a driver answers to a command: the caller's result, and what follows.
pub type Answer = (Return, Then);
