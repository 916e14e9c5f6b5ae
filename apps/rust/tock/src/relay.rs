// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The newer IPC of version 2: registries, by which a process that registered is found, and the relay.
//! Of the relay a client sends a request to a service, which takes it and responds; the kernel copies
//! both ways, from the one's memory out to the other's memory in. What is due is waited for by
//! yield-wait-for, so nothing is subscribed.

use core::sync::atomic::AtomicU32;

use crate::abi::{
    TOCK_ALLOW_RO, TOCK_BY_PACKAGE, TOCK_BY_STRING, TOCK_DISCOVER, TOCK_REGISTER,
    TOCK_REGISTRY_NAME, TOCK_RELAY, TOCK_RELAY_ANSWER, TOCK_RELAY_ENABLE, TOCK_RELAY_IN,
    TOCK_RELAY_OUT, TOCK_RELAY_REQUEST, TOCK_RELAY_RESPOND, TOCK_RELAY_SEND, TOCK_RELAY_TAKE,
    TOCK_RELAY_TAKE_OF,
};
use crate::syscalls::allow;
use crate::{CommandReturn, ErrorCode, Kernel, Syscalls};

/// What the kernel calls a process by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)] // the kernel's words, nothing is known beyond them
pub struct Process {
    pub low: u32,
    pub high: u32,
}

/// By what processes register and are found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Registry {
    /// By a string of 20 bytes.
    String = TOCK_BY_STRING,
    /// By the name of the app's package.
    Package = TOCK_BY_PACKAGE,
}

impl Registry {
    /// Gives the kernel the name that the next call is about. It keeps it.
    #[inline(always)]
    pub fn name(self, name: &'static [u8]) -> Result<(), ErrorCode> {
        Kernel::allow_ro_static(self as u32, TOCK_REGISTRY_NAME, name)
    }

    /// Registers this process: by string by the name that the kernel has.
    #[inline(always)]
    pub fn register(self) -> Result<(), ErrorCode> {
        self.ask(TOCK_REGISTER).map(|_| ())
    }

    /// The process that registered by the name that the kernel has.
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

    /// Makes a command, and waits for what its upcall tells: that of the number before.
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

/// What others are sent from here. The kernel keeps it.
#[inline(always)]
pub fn out(memory: &'static [AtomicU32]) -> Result<(), ErrorCode> {
    let start = memory.as_ptr().into();
    // SAFETY: the memory lives for ever, and all of it is atomics.
    unsafe {
        allow::<Kernel, TOCK_ALLOW_RO>(TOCK_RELAY, TOCK_RELAY_OUT, start, size_of_val(memory))
    }
}

/// Where what others send comes. The kernel keeps it.
#[inline(always)]
pub fn room(memory: &'static [AtomicU32]) -> Result<(), ErrorCode> {
    Kernel::allow_rw_static(TOCK_RELAY, TOCK_RELAY_IN, memory)
}

/// Sends a service what is out.
#[inline(always)]
pub fn send(to: Process) -> Result<(), ErrorCode> {
    Kernel::command(TOCK_RELAY, TOCK_RELAY_SEND, to.low, to.high).check()
}

/// Sleeps until there is an answer, and says how many bytes it has.
///
/// # Errors
///
/// SIZE if it had no room, CANCEL or UNINSTALLED if none comes.
#[inline(always)]
pub fn answer() -> Result<u32, ErrorCode> {
    let (status, length, _) = Kernel::yield_wait_for(TOCK_RELAY, TOCK_RELAY_ANSWER);
    status_of(status)?;
    Ok(length)
}

/// Be a service: others may send.
#[inline(always)]
pub fn enable() -> Result<(), ErrorCode> {
    Kernel::command(TOCK_RELAY, TOCK_RELAY_ENABLE, 0, 0).check()
}

/// Sleeps until a request waits, and says whose. It may be gone when it is taken.
#[inline(always)]
pub fn request() -> Process {
    let (low, high, _) = Kernel::yield_wait_for(TOCK_RELAY, TOCK_RELAY_REQUEST);
    Process { low, high }
}

/// Takes any request: its bytes, and whose it is.
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

/// Answers the request that was taken last with what is out.
#[inline(always)]
pub fn respond() -> Result<(), ErrorCode> {
    Kernel::command(TOCK_RELAY, TOCK_RELAY_RESPOND, 0, 0).check()
}
