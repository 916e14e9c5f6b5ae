// SPDX-License-Identifier: Apache-2.0 OR MIT

//! IPC: processes find each other by name, notify each other, and share memory. A process has a number,
//! which in version 1 is one more than its index. Each process may be a service, which others notify by that
//! number, and a client of others.

use core::marker::PhantomData;
use core::ptr;
use core::sync::atomic::{AtomicU8, AtomicU32, Ordering, compiler_fence};

#[cfg(feature = "abi-v1")]
use crate::abi::{TOCK_ALLOW, TOCK_IPC_SERVE};
#[cfg(not(feature = "abi-v1"))]
use crate::abi::{TOCK_ALLOW_RO, TOCK_IPC_FIND};
use crate::abi::{TOCK_IPC, TOCK_IPC_NAME, TOCK_IPC_NOTIFY_CLIENT, TOCK_IPC_NOTIFY_SERVICE};
#[cfg(feature = "abi-v1")]
use crate::raw::RawSyscalls;
use crate::raw::Register;
#[cfg(not(feature = "abi-v1"))]
use crate::syscalls::allow;
use crate::syscalls::subscribe_function;
use crate::{ErrorCode, Kernel, Syscalls};

/// The longest name that [`find`] accepts, in bytes.
pub const LONGEST_NAME: usize = 64;

/// Finds the number of the process with this name.
///
/// # Errors
///
/// SIZE if the name is longer than [`LONGEST_NAME`]; the kernel's.
pub fn find(name: &str) -> Result<u32, ErrorCode> {
    // A copy, since version 1 requires it in RAM.
    let mut copy = [0; LONGEST_NAME];
    let copy = copy.get_mut(..name.len()).ok_or(ErrorCode::Size)?;
    copy.copy_from_slice(name.as_bytes());
    // SAFETY: the copy belongs to this function until it returns.
    let number = unsafe { find_at(copy.as_mut_ptr().into(), copy.len()) };
    // The kernel of version 2 keeps the buffer, that of version 1 only reads it.
    #[cfg(not(feature = "abi-v1"))]
    Kernel::unallow_ro(TOCK_IPC, TOCK_IPC_NAME);
    number
}

/// Makes a name for [`find_static`].
pub const fn name<const N: usize>(text: &[u8; N]) -> [AtomicU8; N] {
    let mut name = [const { AtomicU8::new(0) }; N];
    let mut index = 0;
    while index < N {
        name[index] = AtomicU8::new(text[index]);
        index += 1;
    }
    name
}

/// Finds the number of the process with this name, which the kernel may keep. Unlike [`find`] this neither
/// copies the name nor takes it back.
///
/// ```
/// # use std::sync::atomic::AtomicU8;
/// # tock::fake::driver(tock::abi::TOCK_IPC, |_, _, _| tock::fake::Answer::Word(2));
/// static SERVER: [AtomicU8; 10] = tock::ipc::name(b"ipc_server");
///
/// assert_eq!(tock::ipc::find_static(&SERVER), Ok(2));
/// ```
#[inline(always)]
pub fn find_static(name: &'static [AtomicU8]) -> Result<u32, ErrorCode> {
    // SAFETY: the name lives for ever and consists of atomics.
    unsafe { find_at(name.as_ptr().into(), name.len()) }
}

/// The first half of [`find_static`]: allows the kernel the name, which it keeps.
#[cfg(not(feature = "abi-v1"))]
#[inline(always)]
pub fn name_static(name: &'static [AtomicU8]) -> Result<(), ErrorCode> {
    // SAFETY: as for `find_static`.
    unsafe {
        allow::<Kernel, TOCK_ALLOW_RO>(TOCK_IPC, TOCK_IPC_NAME, name.as_ptr().into(), name.len())
    }
}

/// The second half of [`find_static`]: finds the process with the name that the kernel has.
#[cfg(not(feature = "abi-v1"))]
#[inline(always)]
pub fn find_named() -> Result<u32, ErrorCode> {
    Kernel::command(TOCK_IPC, TOCK_IPC_FIND, 0, 0).to_result()
}

/// # Safety
///
/// The memory lives, and is written only as atomics, until this returns; in version 2 until another buffer
/// replaces it.
#[inline(always)]
unsafe fn find_at(name: Register, length: usize) -> Result<u32, ErrorCode> {
    #[cfg(not(feature = "abi-v1"))]
    {
        // SAFETY: as the caller guarantees.
        unsafe { allow::<Kernel, TOCK_ALLOW_RO>(TOCK_IPC, TOCK_IPC_NAME, name, length) }?;
        find_named()
    }
    #[cfg(feature = "abi-v1")]
    {
        let call = [TOCK_IPC.into(), TOCK_IPC_NAME.into(), name, length.into()];
        // SAFETY: as the caller guarantees.
        let returned = unsafe { Kernel::syscall4::<TOCK_ALLOW>(call) };
        crate::CommandReturn::from(returned).to_result()
    }
}

/// A function for notifications from another process: it gets that process's number and shared memory.
pub trait Notified {
    /// Called during a yield, like any upcall.
    fn notified(&self, sender: u32, shared: Shared<'_>);
}

impl<F: Fn(u32, Shared<'_>)> Notified for F {
    #[inline]
    fn notified(&self, sender: u32, shared: Shared<'_>) {
        self(sender, shared);
    }
}

/// Becomes a service. `own` is this process's number, which version 1 does not need.
#[inline]
pub fn serve<N: Notified>(own: u32, upcall: &'static N) -> Result<(), ErrorCode> {
    subscribe(service(own), upcall)
}

/// Stops being a service.
#[inline]
pub fn unserve(own: u32) {
    Kernel::unsubscribe(TOCK_IPC, service(own));
}

/// Becomes a client of a service, and receives its notifications.
#[inline]
pub fn listen<N: Notified>(service: u32, upcall: &'static N) -> Result<(), ErrorCode> {
    subscribe(service, upcall)
}

/// Stops receiving a service's notifications.
#[inline]
pub fn unlisten(service: u32) {
    Kernel::unsubscribe(TOCK_IPC, service);
}

/// Returns the number of a service's upcall.
#[inline(always)]
fn service(own: u32) -> u32 {
    #[cfg(not(feature = "abi-v1"))]
    return own;
    #[cfg(feature = "abi-v1")]
    {
        let _ = own;
        TOCK_IPC_SERVE
    }
}

/// Notifies a service.
#[inline(always)]
pub fn notify_service(service: u32) -> Result<(), ErrorCode> {
    notify(service, TOCK_IPC_NOTIFY_SERVICE)
}

/// As a service, notifies a client.
#[inline(always)]
pub fn notify_client(client: u32) -> Result<(), ErrorCode> {
    notify(client, TOCK_IPC_NOTIFY_CLIENT)
}

#[inline(always)]
fn notify(process: u32, how: u32) -> Result<(), ErrorCode> {
    #[cfg(not(feature = "abi-v1"))]
    return Kernel::command(TOCK_IPC, how, process, 0).check();
    #[cfg(feature = "abi-v1")]
    Kernel::command(TOCK_IPC, process, how, 0).check()
}

/// Shares memory with another process, which can access it after the next notification. On Tock it may do
/// so for ever, even after the memory was taken back.
#[inline(always)]
pub fn share(with: u32, memory: &'static [AtomicU32]) -> Result<(), ErrorCode> {
    Kernel::allow_rw_static(TOCK_IPC, with, memory)
}

/// Takes back the memory that was shared with another process.
#[inline(always)]
pub fn unshare(with: u32) {
    Kernel::unallow_rw(TOCK_IPC, with);
}

#[inline(always)]
fn subscribe<N: Notified>(number: u32, upcall: &'static N) -> Result<(), ErrorCode> {
    let data = ptr::from_ref(upcall).into();
    // SAFETY: `run` is sound with the address of an `N`, and `data` is one, which lives for ever.
    unsafe { subscribe_function::<Kernel>(TOCK_IPC, number, run::<N>, data) }
}

/// Runs the upcall at `data`.
///
/// # Safety
///
/// `data` is the address of an `N` that lives, and the kernel passed the other arguments to
/// an IPC upcall.
unsafe extern "C" fn run<N: Notified>(
    sender: Register,
    length: Register,
    address: Register,
    data: Register,
) {
    // SAFETY: as the caller guarantees. The reference is shared, like the subscribed one.
    let upcall = unsafe { &*data.as_ptr::<N>() };
    // SAFETY: the kernel's description of the shared memory is valid while its upcall runs.
    let shared = unsafe { Shared::new(address.as_ptr(), length.as_usize()) };
    upcall.notified(sender.as_u32(), shared);
}

/// The memory that another process shares with this one, during the upcall that reports it. The other process
/// may write it whenever it runs, so it consists of words with any value, and there are no references to it.
#[derive(Clone, Copy, Debug)]
pub struct Shared<'upcall> {
    start: *mut u32,
    words: usize,
    upcall: PhantomData<&'upcall ()>,
}

impl Shared<'_> {
    /// Creates it; empty if the memory does not consist of whole words: Tock also passes on memory that
    /// another process shares at an odd address.
    ///
    /// # Safety
    ///
    /// `length` bytes from `start` can be read and written, for as long as this lives.
    #[inline(always)]
    unsafe fn new(start: *mut u32, length: usize) -> Self {
        let words = if start.is_aligned() { length / 4 } else { 0 };
        Shared {
            start,
            words,
            upcall: PhantomData,
        }
    }

    /// The number of words.
    #[inline(always)]
    pub fn len(&self) -> usize {
        self.words
    }

    /// Is there no shared memory?
    #[inline(always)]
    pub fn is_empty(&self) -> bool {
        self.words == 0
    }

    /// Reads the word with this index, if there is one.
    #[inline(always)]
    pub fn get(&self, index: usize) -> Option<u32> {
        // SAFETY: the word can be read. It is read once, even if another process writes it.
        (index < self.words).then(|| unsafe { self.start.add(index).read_volatile() })
    }

    /// Writes the word with this index, if there is one.
    #[inline(always)]
    pub fn set(&self, index: usize, value: u32) -> Option<()> {
        // SAFETY: the word can be written. The only references to it are to atomics, if this process shares
        // with itself.
        (index < self.words).then(|| unsafe { self.start.add(index).write_volatile(value) })
    }

    /// Copies words from index `from_word` on, as many as `to` has. None if there are too few.
    #[inline(always)]
    pub fn copy_to(&self, to: &mut [u32], from_word: usize) -> Option<()> {
        let end = from_word.checked_add(to.len())?;
        if end > self.words {
            return None;
        }
        // The other process may run, and write, between any two instructions of the copy. It is one copy,
        // between the fences, and each word has a value that it had at some moment of the copy.
        compiler_fence(Ordering::SeqCst);
        // SAFETY: the words can be read, `to` can be written, and they do not overlap: this process shares
        // only atomics, and `to` is not a reference to these.
        unsafe {
            self.start
                .add(from_word)
                .copy_to_nonoverlapping(to.as_mut_ptr(), to.len())
        };
        compiler_fence(Ordering::SeqCst);
        Some(())
    }
}
