// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Bodies, which the sampler calls through a pointer with one word, and the data that they work on.

use core::cell::UnsafeCell;
use core::sync::atomic::{AtomicU8, AtomicU32};

use super::bench::{Outcome, Run};
use super::{Buffer, Given, Write};

type RawBody = unsafe extern "C" fn(*mut ()) -> u32;

/// The words that a body returns in a0 and a1.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Words(pub u32, pub u32);

impl Words {
    /// The first word of a successful call.
    pub const OK: u32 = crate::abi::TOCK_SUCCESS_U32;

    /// Converts a call's result: OK and its word, or FAILURE and the error.
    #[inline(always)]
    pub fn of(returned: Result<u32, crate::ErrorCode>) -> Self {
        match returned {
            Ok(word) => Self(Self::OK, word),
            Err(error) => Self(crate::abi::TOCK_FAILURE, error as u32),
        }
    }
}

/// The result of a body: in a0, or in a0 and a1.
///
/// # Safety
///
/// A C function returns this type in these registers.
pub unsafe trait Return {}

// SAFETY: one word.
unsafe impl Return for u32 {}
// SAFETY: a structure of two words.
unsafe impl Return for Words {}

/// A body in the form that the sampler calls, such as one in assembly; its file documents its argument.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub struct Asm(RawBody);

unsafe extern "C" {
    fn tm_body_empty(word: *mut ()) -> u32;
    fn tm_nops_2_end(word: *mut ()) -> u32;
    fn tm_nops_4_end(word: *mut ()) -> u32;
    static tm_nops_2: u8;
    static tm_nops_4: u8;
}

impl Asm {
    /// The body of time.read: it returns its argument.
    pub const EMPTY: Self = Self(tm_body_empty);

    /// # Safety
    ///
    /// It is a body: it takes a word as its file documents, accesses memory only through this word, and
    /// returns like a procedure.
    pub const unsafe fn new(body: RawBody) -> Self {
        Self(body)
    }

    /// A run of NOPs of `width` bytes, 2 or 4, entered this many bytes before its end (asm/nops.S).
    ///
    /// # Panics
    ///
    /// If the run is shorter, or no NOP begins there.
    #[must_use]
    pub fn nops(width: u32, bytes: u32) -> Self {
        let (start, end): (*const u8, RawBody) = if width == 2 {
            (&raw const tm_nops_2, tm_nops_2_end)
        } else {
            (&raw const tm_nops_4, tm_nops_4_end)
        };
        let at = (end as *const u8).wrapping_sub(bytes as usize);
        assert!(
            at >= start && bytes.is_multiple_of(width),
            "no NOP of the run begins there"
        );
        // SAFETY: from there on there are NOPs, and the end, which returns its argument.
        Self(unsafe { core::mem::transmute::<*const u8, RawBody>(at) })
    }

    /// Runs through this many bytes of NOPs, and returns its argument.
    #[must_use]
    pub fn run_nops(bytes: u32, word: u32) -> u32 {
        let Self(body) = Self::nops(4, bytes);
        // SAFETY: NOPs and their end access no memory, and return their argument.
        unsafe { body(core::ptr::without_provenance_mut(word as usize)) }
    }
}

/// A body in Rust with an argument of type `A`.
pub struct Body<A>(RawBody, core::marker::PhantomData<fn(A)>);

impl<A> Clone for Body<A> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<A> Copy for Body<A> {}

impl<A: Argument> Body<A> {
    /// Makes a body of a function that takes this and returns a word or two.
    pub const fn new<R: Return>(body: extern "C" fn(A) -> R) -> Self {
        // SAFETY: an Argument is passed in a0, like a pointer. The result is in a0 and perhaps a1, which the
        // sampler also keeps; nothing else of the two types differs.
        let raw = unsafe { core::mem::transmute::<extern "C" fn(A) -> R, RawBody>(body) };
        Self(raw, core::marker::PhantomData)
    }
}

impl Body<&'static Buffer> {
    /// Makes a body with exclusive use of the buffer's memory.
    pub const fn given<R: Return>(body: extern "C" fn(Given<'_>) -> R) -> Self {
        // SAFETY: a Given is a reference to the buffer; for R see `new`.
        let raw = unsafe { core::mem::transmute::<extern "C" fn(Given<'_>) -> R, RawBody>(body) };
        Self(raw, core::marker::PhantomData)
    }
}

impl<A> Body<A> {
    /// Makes a replacement for a body in assembly.
    ///
    /// # Safety
    ///
    /// It gets an `A`: an [`Asm`] may be measured with any argument.
    pub const unsafe fn stand_in(self) -> Asm {
        Asm(self.0)
    }
}

/// A body that can be measured with an argument of this type.
pub trait Measurable<A> {
    /// Returns the form that the sampler calls.
    fn raw(self) -> Asm;
}

/// Assembly is trusted to get the argument that its file documents.
impl<A> Measurable<A> for Asm {
    fn raw(self) -> Asm {
        self
    }
}

impl<A> Measurable<A> for Body<A> {
    fn raw(self) -> Asm {
        Asm(self.0)
    }
}

/// The argument of a body, in a0.
///
/// # Safety
///
/// It is passed in one register, and `word` returns the register's value. An object that it refers to lives
/// for ever.
pub unsafe trait Argument {
    /// Returns the register's value.
    fn word(self) -> usize;
}

// SAFETY: no argument; the body may see it as 0.
unsafe impl Argument for () {
    fn word(self) -> usize {
        0
    }
}

// SAFETY: a number.
unsafe impl Argument for u32 {
    fn word(self) -> usize {
        self as usize
    }
}

// SAFETY: an address of flash or RAM.
unsafe impl Argument for usize {
    fn word(self) -> usize {
        self
    }
}

macro_rules! argument {
    ($($type:ty),*) => { $(
        // SAFETY: a reference that is valid for ever.
        unsafe impl Argument for &'static $type {
            fn word(self) -> usize {
                core::ptr::from_ref(self) as usize
            }
        }
    )* };
}
argument!(AtomicU8, AtomicU32, Buffer, Write);

/// The data of a row's body, at a fixed address from `setup` to the row's end.
///
/// ```ignore
/// static STAGE: Stage<Lent> = Stage::new();
/// STAGE.measure(run, fill, area)?; // in setup: extern "C" fn fill(area: &mut Lent) -> u32
/// let area = STAGE.take(run);      // in finish
/// ```
pub struct Stage<T>(UnsafeCell<Option<T>>);

// SAFETY: an app has one thread. An upcall, which may interrupt a yield, has no `&mut Run`, and all functions
// here need one.
unsafe impl<T> Sync for Stage<T> {}

impl<T: 'static> Stage<T> {
    /// Makes a stage without a value.
    pub const fn new() -> Self {
        Self(UnsafeCell::new(None))
    }

    /// Measures a body in Rust on this value.
    pub fn measure<R: Return>(
        &'static self,
        run: &mut Run,
        body: extern "C" fn(&mut T) -> R,
        value: T,
    ) -> Outcome {
        // SAFETY: a reference to T is passed like a pointer; for R see Body::new.
        let raw = unsafe { core::mem::transmute::<extern "C" fn(&mut T) -> R, RawBody>(body) };
        self.measure_asm(run, Asm(raw), value)
    }

    /// Measures a body in assembly on this value.
    pub fn measure_asm(&'static self, run: &mut Run, body: Asm, value: T) -> Outcome {
        let address = core::ptr::from_mut(self.keep(run, value)).expose_provenance();
        run.measure(body, address)
    }

    /// Stores the value without measuring anything.
    pub fn keep<'run>(&'static self, run: &'run mut Run, value: T) -> &'run mut T {
        run.measure_nothing();
        // SAFETY: nothing else uses the value: its body is not called now, since a hook is running that lent
        // its Run, and there is only one Run.
        unsafe { (*self.0.get()).insert(value) }
    }

    /// Returns the value, if there is one.
    pub fn get<'run>(&'static self, _run: &'run mut Run) -> Option<&'run mut T> {
        // SAFETY: as for `keep`: while the reference lives, the hook has not ended.
        unsafe { (*self.0.get()).as_mut() }
    }

    /// Takes the value back, if there is one. Then nothing is measured any more.
    pub fn take(&'static self, run: &mut Run) -> Option<T> {
        run.measure_nothing();
        // SAFETY: as for `keep`.
        unsafe { (*self.0.get()).take() }
    }
}

impl<T: 'static> Default for Stage<T> {
    fn default() -> Self {
        Self::new()
    }
}
