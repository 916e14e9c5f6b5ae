// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Commands to drivers and their answers. A command ([`Call`]) has the caller, the number and the
//! arguments. The driver also gets the processes, to read the caller's buffers and to report events. Its
//! answer has the caller's result and what the kernel does next ([`Then`]), so the kernel need not know
//! drivers by their numbers.

use crate::abi::Return;

/// A command to a driver.
#[derive(Clone, Copy)]
pub struct Call {
    /// Index of the calling process.
    pub process: usize,
    pub number: u32,
    pub arguments: [u32; 2],
}

/// The kernel's next step after a command.
#[derive(Clone, Copy)]
pub enum Then {
    /// Nothing: the caller continues.
    Nothing,
    /// Set the timer again: the next alarm may have changed.
    SetTimer,
    /// Let another process run, if one is ready that outranks the caller.
    MakeRoom,
    /// Let the caller wait if it has to.
    Wait,
}

/// A driver's answer to a command: the caller's result, and what the kernel does next.
pub type Answer = (Return, Then);
