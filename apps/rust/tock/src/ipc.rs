// SPDX-License-Identifier: Apache-2.0 OR MIT

//! IPC: processes find each other by name, notify each other, and share memory. A process is known
//! by a number, which on version 1 is one more than its index. Each may be a service, which others
//! notify by that number, and a client of others.

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

/// The longest name that [`find`] takes, in bytes.
pub const LONGEST_NAME: usize = 64;

/// The number of the process of this name.
///
/// # Errors
///
/// SIZE if the name is longer than [`LONGEST_NAME`]; the kernel's.
pub fn find(name: &str) -> Result<u32, ErrorCode> {
    // A copy, since version 1 wants it in RAM.
    let mut copy = [0; LONGEST_NAME];
    let copy = copy.get_mut(..name.len()).ok_or(ErrorCode::Size)?;
    copy.copy_from_slice(name.as_bytes());
    // SAFETY: the copy is ours until this returns.
    let found = unsafe { find_at(copy.as_mut_ptr().into(), copy.len()) };
    // Version 2's kernel keeps the buffer, version 1's looks at it and is done.
    #[cfg(not(feature = "abi-v1"))]
    Kernel::unallow_ro(TOCK_IPC, TOCK_IPC_NAME);
    found
}

/// A name for [`find_static`].
pub const fn name<const N: usize>(text: &[u8; N]) -> [AtomicU8; N] {
    let mut name = [const { AtomicU8::new(0) }; N];
    let mut index = 0;
    while index < N {
        name[index] = AtomicU8::new(text[index]);
        index += 1;
    }
    name
}

/// The number of the process of this name, which stays where it is: the kernel may keep it. This is
/// [`find`] without the copy, and without taking the name back.
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
    // SAFETY: the name lives for ever, and all of it is atomics.
    unsafe { find_at(name.as_ptr().into(), name.len()) }
}

/// The first half of [`find_static`]: gives the name to the kernel, which keeps it.
#[cfg(not(feature = "abi-v1"))]
#[inline(always)]
pub fn name_static(name: &'static [AtomicU8]) -> Result<(), ErrorCode> {
    // SAFETY: as for `find_static`.
    unsafe {
        allow::<Kernel, TOCK_ALLOW_RO>(TOCK_IPC, TOCK_IPC_NAME, name.as_ptr().into(), name.len())
    }
}

/// The second half of [`find_static`]: the number of the process whose name the kernel has.
#[cfg(not(feature = "abi-v1"))]
#[inline(always)]
pub fn find_named() -> Result<u32, ErrorCode> {
    Kernel::command(TOCK_IPC, TOCK_IPC_FIND, 0, 0).to_result()
}

/// # Safety
///
/// The memory lives, and is not written but as atomics, until this returns; on version 2 until
/// another buffer takes its place.
#[inline(always)]
unsafe fn find_at(name: Register, length: usize) -> Result<u32, ErrorCode> {
    #[cfg(not(feature = "abi-v1"))]
    {
        // SAFETY: the caller's.
        unsafe { allow::<Kernel, TOCK_ALLOW_RO>(TOCK_IPC, TOCK_IPC_NAME, name, length) }?;
        find_named()
    }
    #[cfg(feature = "abi-v1")]
    {
        let call = [TOCK_IPC.into(), TOCK_IPC_NAME.into(), name, length.into()];
        // SAFETY: the caller's.
        let returned = unsafe { Kernel::syscall4::<TOCK_ALLOW>(call) };
        crate::CommandReturn::from(returned).to_result()
    }
}

/// What is called when another process notifies this one: its number, and what it shares.
pub trait Notified {
    /// Called during a yield, as any upcall.
    fn notified(&self, sender: u32, shared: Shared<'_>);
}

impl<F: Fn(u32, Shared<'_>)> Notified for F {
    #[inline]
    fn notified(&self, sender: u32, shared: Shared<'_>) {
        self(sender, shared);
    }
}

/// Be a service. `own` is this process's number, which version 1 does not need.
#[inline]
pub fn serve<N: Notified>(own: u32, upcall: &'static N) -> Result<(), ErrorCode> {
    subscribe(service(own), upcall)
}

/// No longer be a service.
#[inline]
pub fn unserve(own: u32) {
    Kernel::unsubscribe(TOCK_IPC, service(own));
}

/// Be a client of a service, and hear from it.
#[inline]
pub fn listen<N: Notified>(service: u32, upcall: &'static N) -> Result<(), ErrorCode> {
    subscribe(service, upcall)
}

/// No longer hear from a service.
#[inline]
pub fn unlisten(service: u32) {
    Kernel::unsubscribe(TOCK_IPC, service);
}

/// The upcall of a service.
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

/// As a service, notifies a client of it.
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

/// Lets another process reach this memory, from the next notification on. On Tock it may do so for
/// ever, even if this is taken back.
#[inline(always)]
pub fn share(with: u32, memory: &'static [AtomicU32]) -> Result<(), ErrorCode> {
    Kernel::allow_rw_static(TOCK_IPC, with, memory)
}

/// Takes back what was shared with another process.
#[inline(always)]
pub fn unshare(with: u32) {
    Kernel::unallow_rw(TOCK_IPC, with);
}

#[inline(always)]
fn subscribe<N: Notified>(number: u32, upcall: &'static N) -> Result<(), ErrorCode> {
    let data = ptr::from_ref(upcall).into();
    // SAFETY: `run` is sound with the address of an `N`, and that is what stands beside it, for
    // ever.
    unsafe { subscribe_function::<Kernel>(TOCK_IPC, number, run::<N>, data) }
}

/// Runs the upcall at `data`.
///
/// # Safety
///
/// `data` is the address of an `N` that lives, and the rest is what the kernel calls an upcall of
/// IPC with.
unsafe extern "C" fn run<N: Notified>(
    sender: Register,
    length: Register,
    address: Register,
    data: Register,
) {
    // SAFETY: the caller's. The reference is shared, as is the one that was subscribed.
    let upcall = unsafe { &*data.as_ptr::<N>() };
    // SAFETY: what the kernel says of what is shared holds while its upcall runs.
    let shared = unsafe { Shared::new(address.as_ptr(), length.as_usize()) };
    upcall.notified(sender.as_u32(), shared);
}

/// What another process shares with this one, for as long as the upcall that tells of it. The other
/// may write it whenever it runs, so all of it is words of any value, and there are no references
/// to it.
#[derive(Clone, Copy, Debug)]
pub struct Shared<'upcall> {
    start: *mut u32,
    words: usize,
    upcall: PhantomData<&'upcall ()>,
}

impl Shared<'_> {
    /// Memory that is not made of words is none: Tock lets through what another process shares at
    /// an odd address.
    ///
    /// # Safety
    ///
    /// So many bytes from there on can be read and written, for as long as this lives.
    #[inline(always)]
    unsafe fn new(start: *mut u32, length: usize) -> Self {
        let words = if start.is_aligned() { length / 4 } else { 0 };
        Shared {
            start,
            words,
            upcall: PhantomData,
        }
    }

    /// How many words there are.
    #[inline(always)]
    pub fn len(&self) -> usize {
        self.words
    }

    /// Is nothing shared?
    #[inline(always)]
    pub fn is_empty(&self) -> bool {
        self.words == 0
    }

    /// Reads a word, if there is one.
    #[inline(always)]
    pub fn get(&self, index: usize) -> Option<u32> {
        // SAFETY: the word is one of those that can be read. It is read once, whoever writes it.
        (index < self.words).then(|| unsafe { self.start.add(index).read_volatile() })
    }

    /// Writes a word, if there is one.
    #[inline(always)]
    pub fn set(&self, index: usize, value: u32) -> Option<()> {
        // SAFETY: the word is one of those that can be written, and there is no reference to it
        // but to an atomic, if this process shares with itself.
        (index < self.words).then(|| unsafe { self.start.add(index).write_volatile(value) })
    }

    /// Copies words from this one on, as many as `to` takes, if there are as many.
    #[inline(always)]
    pub fn copy_to(&self, to: &mut [u32], from_word: usize) -> Option<()> {
        let end = from_word.checked_add(to.len())?;
        if end > self.words {
            return None;
        }
        // The other process may run, and write, between any two instructions of the copy. It is
        // one copy, between the fences, and each word has a value of some moment of it.
        compiler_fence(Ordering::SeqCst);
        // SAFETY: the words can be read, `to` can be written, and they do not overlap: of this
        // process's memory nothing is shared but atomics, to which `to` is no reference.
        unsafe {
            self.start
                .add(from_word)
                .copy_to_nonoverlapping(to.as_mut_ptr(), to.len())
        };
        compiler_fence(Ordering::SeqCst);
        Some(())
    }
}
