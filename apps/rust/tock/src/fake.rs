// SPDX-License-Identifier: Apache-2.0 OR MIT

//! A kernel for tests on a host, one per thread. It records every call, keeps the memory that it is given
//! and uses it as a real kernel would, so that Miri detects a use of dead memory. The test defines drivers as
//! functions; console, alarm and Perf exist until the test replaces them.
//!
//! ```
//! use tock::fake::{self, Answer, Call};
//! use tock::{Kernel, Syscalls};
//!
//! fake::driver(0x99, |command, first, _| match command {
//!     1 => Answer::Word(first + 1),
//!     _ => Answer::Fails(tock::ErrorCode::NoSupport),
//! });
//! assert_eq!(Kernel::command(0x99, 1, 41, 0).get_success_u32(), Some(42));
//! assert_eq!(fake::calls(), [Call::Command(0x99, 1, 41, 0)]);
//! ```

use std::cell::RefCell;
use std::collections::{BTreeMap, VecDeque};
use std::rc::Rc;
use std::sync::Mutex;
use std::vec::Vec;

mod drivers;
mod kernel;

use crate::abi;
use crate::error::ErrorCode;
use crate::raw::{Register, UpcallFunction};
use crate::syscalls::Shareable;
pub use kernel::Kernel;

/// A call with its arguments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Call {
    /// A yield that waits.
    YieldWait,
    /// A yield that does not wait.
    YieldNoWait,
    /// A yield for this upcall of a driver.
    YieldWaitFor(u32, u32),
    /// Subscribes to this upcall of a driver.
    Subscribe(u32, u32),
    /// Takes this upcall of a driver back.
    Unsubscribe(u32, u32),
    /// Driver, command and its arguments.
    Command(u32, u32, u32, u32),
    /// Driver, buffer and its length, read-only.
    AllowRo(u32, u32, usize),
    /// Takes this read-only buffer of a driver back.
    UnallowRo(u32, u32),
    /// Driver, buffer and its length, read-write.
    AllowRw(u32, u32, usize),
    /// Takes this read-write buffer of a driver back.
    UnallowRw(u32, u32),
    /// Operation.
    Memop(u32),
}

/// A driver's answer to a command.
#[derive(Clone, Copy, Debug)]
pub enum Answer {
    /// Failure.
    Fails(ErrorCode),
    /// Success.
    Done,
    /// Success with this word.
    Word(u32),
    /// Success with these words; version 1 has no such answer.
    Words(u32, u32),
    /// These registers, unchanged; version 1 makes its word of the first one.
    Raw([u32; 4]),
}

/// A driver: command and two arguments.
type Driver = Rc<dyn Fn(u32, u32, u32) -> Answer>;

/// Driver and the number of its upcall or buffer.
type Id = (u32, u32);

#[derive(Default)]
struct State {
    calls: Vec<Call>,
    drivers: BTreeMap<u32, Driver>,
    upcalls: BTreeMap<Id, (UpcallFunction, Register)>,
    read_only: BTreeMap<Id, (Register, usize)>,
    read_write: BTreeMap<Id, (Register, usize)>,
    pending: VecDeque<(Id, [Register; 3])>,
    refusal: Option<(u32, ErrorCode)>,
    printed: Vec<u8>,
    counter: u32,
    memory: Option<Register>,
    end: usize,
}

std::thread_local! {
    static STATE: RefCell<State> = RefCell::default();
}

/// The range of the break, in bytes.
pub const MEMORY: usize = 1 << 13;

/// All memory that any fake has given: it is lent for ever, and outlives the thread.
static GIVEN: Mutex<Vec<&'static [core::sync::atomic::AtomicU64]>> = Mutex::new(Vec::new());

fn with<T>(use_it: impl FnOnce(&mut State) -> T) -> T {
    STATE.with_borrow_mut(use_it)
}

/// Makes this function the driver with that number.
pub fn driver(number: u32, driver: impl Fn(u32, u32, u32) -> Answer + 'static) {
    with(|state| state.drivers.insert(number, Rc::new(driver)));
}

/// Makes the next call of this class fail: a subscribe, an allow, or a memop, by its number in
/// [`crate::abi`].
pub fn refuse(class: u32, error: ErrorCode) {
    with(|state| state.refusal = Some((class, error)));
}

/// Schedules an upcall of a driver for a later yield, if it is subscribed then.
pub fn schedule(driver: u32, number: u32, words: [u32; 3]) {
    pend((driver, number), words.map(Register::from));
}

/// Schedules this upcall of IPC for a later yield, from a sender who shares this memory.
pub fn notify<M: Shareable + ?Sized>(number: u32, sender: u32, shared: &'static M) {
    let start = core::ptr::from_ref(shared).cast::<u8>();
    let words = [sender.into(), size_of_val(shared).into(), start.into()];
    pend((abi::TOCK_IPC, number), words);
}

fn pend(id: Id, words: [Register; 3]) {
    with(|state| state.pending.push_back((id, words)));
}

/// Returns the calls since the last time.
pub fn calls() -> Vec<Call> {
    with(|state| core::mem::take(&mut state.calls))
}

/// Returns the console's output since the last time.
pub fn printed() -> Vec<u8> {
    with(|state| core::mem::take(&mut state.printed))
}

/// Has the kernel neither an upcall nor a buffer?
pub fn has_nothing() -> bool {
    with(|state| {
        state.upcalls.is_empty() && state.read_only.is_empty() && state.read_write.is_empty()
    })
}

/// Reads a buffer of a driver, as the driver would. Empty if none is allowed.
pub fn read(driver: u32, number: u32) -> Vec<u8> {
    let id = (driver, number);
    let buffer = with(|state| {
        state
            .read_only
            .get(&id)
            .or(state.read_write.get(&id))
            .copied()
    });
    let (start, length) = buffer.unwrap_or((Register::NULL, 0));
    // SAFETY: allowed memory can be read: `Syscalls` has to ensure that, and Miri checks it.
    let byte = |index| unsafe { start.as_ptr::<u8>().add(index).read_volatile() };
    (0..length).map(byte).collect()
}

/// Writes into a read-write buffer of a driver, as the driver would, as many bytes as fit.
pub fn write(driver: u32, number: u32, bytes: &[u8]) {
    let buffer = with(|state| state.read_write.get(&(driver, number)).copied());
    let (start, length) = buffer.unwrap_or((Register::NULL, 0));
    for (index, byte) in bytes.iter().take(length).enumerate() {
        // SAFETY: allowed memory can be written: see `read`.
        unsafe { start.as_ptr::<u8>().add(index).write_volatile(*byte) };
    }
}
