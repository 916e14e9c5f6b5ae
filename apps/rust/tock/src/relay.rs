// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The newer IPC of version 2: registries, in which processes find each other, and the relay. A client sends
//! a request to a service through the relay; the service takes it and responds. The kernel copies both ways,
//! from the sender's out memory to the receiver's in memory. All waits use yield-wait-for, so nothing is
//! subscribed.

use core::sync::atomic::AtomicU32;

use crate::abi::{
    TOCK_ALLOW_RO, TOCK_BY_PACKAGE, TOCK_BY_STRING, TOCK_DISCOVER, TOCK_REGISTER,
    TOCK_REGISTRY_NAME, TOCK_RELAY, TOCK_RELAY_ANSWER, TOCK_RELAY_ENABLE, TOCK_RELAY_IN,
    TOCK_RELAY_OUT, TOCK_RELAY_REQUEST, TOCK_RELAY_RESPOND, TOCK_RELAY_SEND, TOCK_RELAY_TAKE,
    TOCK_RELAY_TAKE_OF,
};
use crate::syscalls::allow;
use crate::{CommandReturn, ErrorCode, Kernel, Syscalls};

/// The kernel's id of a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)] // the kernel's words, which are documented nowhere else
pub struct Process {
    pub low: u32,
    pub high: u32,
}

/// The registry in which processes register and are found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Registry {
    /// By a string of 20 bytes.
    String = TOCK_BY_STRING,
    /// By the name of the app's package.
    Package = TOCK_BY_PACKAGE,
}

impl Registry {
    /// Allows the kernel the name for the next call. The kernel keeps it.
    #[inline(always)]
    pub fn name(self, name: &'static [u8]) -> Result<(), ErrorCode> {
        Kernel::allow_ro_static(self as u32, TOCK_REGISTRY_NAME, name)
    }

    /// Registers this process; by string with the name that the kernel has.
    #[inline(always)]
    pub fn register(self) -> Result<(), ErrorCode> {
        self.ask(TOCK_REGISTER).map(|_| ())
    }

    /// Finds the process that registered with the name that the kernel has.
    ///
    /// ```
    /// # use tock::{abi, fake, fake::Answer};
    /// # fake::driver(abi::TOCK_BY_STRING, |_, _, _| {
    /// #     fake::schedule(abi::TOCK_BY_STRING, abi::TOCK_DISCOVERED, [0, 7, 0]);
    /// #     Answer::Done
    /// # });
    /// use tock::relay::Registry;
    ///
    /// Registry::String.name(b"twenty bytes of name")?;
    /// assert_eq!(Registry::String.find()?.low, 7);
    /// # Ok::<_, tock::ErrorCode>(())
    /// ```
    #[inline(always)]
    pub fn find(self) -> Result<Process, ErrorCode> {
        self.ask(TOCK_DISCOVER)
    }

    /// Makes a command, and waits for its upcall, which has the number before the command's.
    #[inline(always)]
    fn ask(self, command: u32) -> Result<Process, ErrorCode> {
        Kernel::command(self as u32, command, 0, 0).check()?;
        let (status, low, high) = Kernel::yield_wait_for(self as u32, command - 1);
        status_of(status)?;
        Ok(Process { low, high })
    }
}

#[inline(always)]
fn status_of(status: u32) -> Result<(), ErrorCode> {
    match status {
        0 => Ok(()),
        error => Err(ErrorCode::of(error)),
    }
}

/// Sets the memory that this process sends. The kernel keeps it.
#[inline(always)]
pub fn out(memory: &'static [AtomicU32]) -> Result<(), ErrorCode> {
    let start = memory.as_ptr().into();
    // SAFETY: the memory lives for ever and consists of atomics.
    unsafe {
        allow::<Kernel, TOCK_ALLOW_RO>(TOCK_RELAY, TOCK_RELAY_OUT, start, size_of_val(memory))
    }
}

/// Sets the memory that receives what others send. The kernel keeps it.
#[inline(always)]
pub fn room(memory: &'static [AtomicU32]) -> Result<(), ErrorCode> {
    Kernel::allow_rw_static(TOCK_RELAY, TOCK_RELAY_IN, memory)
}

/// Sends the out memory to a service.
#[inline(always)]
pub fn send(to: Process) -> Result<(), ErrorCode> {
    Kernel::command(TOCK_RELAY, TOCK_RELAY_SEND, to.low, to.high).check()
}

/// Sleeps until there is a response, and returns its length in bytes.
///
/// # Errors
///
/// SIZE if the response did not fit, CANCEL or UNINSTALLED if there is none.
#[inline(always)]
pub fn answer() -> Result<u32, ErrorCode> {
    let (status, length, _) = Kernel::yield_wait_for(TOCK_RELAY, TOCK_RELAY_ANSWER);
    status_of(status)?;
    Ok(length)
}

/// Becomes a service: others may send requests.
#[inline(always)]
pub fn enable() -> Result<(), ErrorCode> {
    Kernel::command(TOCK_RELAY, TOCK_RELAY_ENABLE, 0, 0).check()
}

/// Sleeps until a request waits, and returns its client. It may be gone when it is taken.
#[inline(always)]
pub fn request() -> Process {
    let (low, high, _) = Kernel::yield_wait_for(TOCK_RELAY, TOCK_RELAY_REQUEST);
    Process { low, high }
}

/// Takes any request: returns its length and its client.
#[inline(always)]
pub fn take() -> Result<(u32, Process), ErrorCode> {
    taken(Kernel::command(TOCK_RELAY, TOCK_RELAY_TAKE, 0, 0))
}

/// Takes the request of one client.
#[inline(always)]
pub fn take_of(client: Process) -> Result<(u32, Process), ErrorCode> {
    let Process { low, high } = client;
    taken(Kernel::command(TOCK_RELAY, TOCK_RELAY_TAKE_OF, low, high))
}

#[inline(always)]
fn taken(returned: CommandReturn) -> Result<(u32, Process), ErrorCode> {
    let (length, id): (u32, u64) = returned.to_result()?;
    let (low, high) = (id as u32, (id >> 32) as u32);
    Ok((length, Process { low, high }))
}

/// Responds to the request that was taken last, with the out memory.
#[inline(always)]
pub fn respond() -> Result<(), ErrorCode> {
    Kernel::command(TOCK_RELAY, TOCK_RELAY_RESPOND, 0, 0).check()
}
