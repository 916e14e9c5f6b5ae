// SPDX-License-Identifier: Apache-2.0 OR MIT

//! A kernel for tests on a host, one a thread. It notes every call, keeps what it is given, and uses
//! that as a kernel would, so that Miri sees memory used which is no longer there. Drivers are
//! functions of the test; console, alarm and Perf are there as long as the test sets no other.
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

/// A call, by what it was made with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Call {
    /// A yield that waits.
    YieldWait,
    /// A yield that does not.
    YieldNoWait,
    /// A yield for this upcall of a driver.
    YieldWaitFor(u32, u32),
    /// This upcall of a driver is subscribed.
    Subscribe(u32, u32),
    /// This upcall of a driver is taken back.
    Unsubscribe(u32, u32),
    /// Driver, command and its arguments.
    Command(u32, u32, u32, u32),
    /// Driver, buffer and its length, read-only.
    AllowRo(u32, u32, usize),
    /// This read-only buffer of a driver is taken back.
    UnallowRo(u32, u32),
    /// Driver, buffer and its length, read-write.
    AllowRw(u32, u32, usize),
    /// This read-write buffer of a driver is taken back.
    UnallowRw(u32, u32),
    /// Operation.
    Memop(u32),
}

/// What a driver answers to a command.
#[derive(Clone, Copy, Debug)]
pub enum Answer {
    /// It failed.
    Fails(ErrorCode),
    /// It is done.
    Done,
    /// It is done, and this is the result.
    Word(u32),
    /// It is done, and these are the results; version 1 has no such answer.
    Words(u32, u32),
    /// These registers, as they are; of the first, version 1 makes its word.
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

/// Bytes of memory that the break can move over.
pub const MEMORY: usize = 1 << 13;

/// All memory that a fake ever gave: it is lent for ever, whatever becomes of the thread.
static GIVEN: Mutex<Vec<&'static [core::sync::atomic::AtomicU64]>> = Mutex::new(Vec::new());

fn with<T>(use_it: impl FnOnce(&mut State) -> T) -> T {
    STATE.with_borrow_mut(use_it)
}

/// Has this function be the driver of that number.
pub fn driver(number: u32, driver: impl Fn(u32, u32, u32) -> Answer + 'static) {
    with(|state| state.drivers.insert(number, Rc::new(driver)));
}

/// Has the next call of this class fail: a subscribe, an allow, or a memop, by its number in
/// [`crate::abi`].
pub fn refuse(class: u32, error: ErrorCode) {
    with(|state| state.refusal = Some((class, error)));
}

/// Has an upcall of a driver come at a later yield, if it is subscribed then.
pub fn schedule(driver: u32, number: u32, words: [u32; 3]) {
    pend((driver, number), words.map(Register::from));
}

/// Has this upcall of IPC come at a later yield, from a sender who shares this memory.
pub fn notify<M: Shareable + ?Sized>(number: u32, sender: u32, shared: &'static M) {
    let start = core::ptr::from_ref(shared).cast::<u8>();
    let words = [sender.into(), size_of_val(shared).into(), start.into()];
    pend((abi::TOCK_IPC, number), words);
}

fn pend(id: Id, words: [Register; 3]) {
    with(|state| state.pending.push_back((id, words)));
}

/// The calls since this was asked for last.
pub fn calls() -> Vec<Call> {
    with(|state| core::mem::take(&mut state.calls))
}

/// What the console printed since this was asked for last.
pub fn printed() -> Vec<u8> {
    with(|state| core::mem::take(&mut state.printed))
}

/// Does the kernel have nothing, neither upcall nor buffer?
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
    // SAFETY: what is allowed can be read: that is what `Syscalls` has to see to, and Miri checks.
    let byte = |index| unsafe { start.as_ptr::<u8>().add(index).read_volatile() };
    (0..length).map(byte).collect()
}

/// Writes into a read-write buffer of a driver, as the driver would, as much as there is room for.
pub fn write(driver: u32, number: u32, bytes: &[u8]) {
    let buffer = with(|state| state.read_write.get(&(driver, number)).copied());
    let (start, length) = buffer.unwrap_or((Register::NULL, 0));
    for (index, byte) in bytes.iter().take(length).enumerate() {
        // SAFETY: what is allowed can be written: see `read`.
        unsafe { start.as_ptr::<u8>().add(index).write_volatile(*byte) };
    }
}
