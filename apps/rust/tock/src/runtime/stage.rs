// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Bodies, which the sampler calls by a pointer with one word, and what they work on.

use core::cell::UnsafeCell;
use core::sync::atomic::{AtomicU8, AtomicU32};

use super::bench::{Outcome, Run};
use super::{Buffer, Given, Write};

type RawBody = unsafe extern "C" fn(*mut ()) -> u32;

/// What a body leaves in a0 and a1.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Words(pub u32, pub u32);

impl Words {
    /// The first word where a call succeeded.
    pub const OK: u32 = crate::abi::TOCK_SUCCESS_U32;

    /// What came of a call: OK and its word, or FAILURE and the error.
    #[inline(always)]
    pub fn of(returned: Result<u32, crate::ErrorCode>) -> Self {
        match returned {
            Ok(word) => Self(Self::OK, word),
            Err(error) => Self(crate::abi::TOCK_FAILURE, error as u32),
        }
    }
}

/// What a body returns: in a0, or in a0 and a1.
///
/// # Safety
///
/// A C function returns it there.
pub unsafe trait Return {}

// SAFETY: one word.
unsafe impl Return for u32 {}
// SAFETY: a structure of two words.
unsafe impl Return for Words {}

/// A body as the sampler has it, such as one in assembly; its file says what it takes.
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
    /// The body of time.read: it returns what it is given.
    pub const EMPTY: Self = Self(tm_body_empty);

    /// # Safety
    ///
    /// It is a body: it takes a word that is what its file says, reaches nothing but by this word, and
    /// returns as a procedure does.
    pub const unsafe fn new(body: RawBody) -> Self {
        Self(body)
    }

    /// A run of NOPs of `width` bytes, 2 or 4, entered so many bytes before its end (asm/nops.S).
    ///
    /// # Panics
    ///
    /// If it is not as long, or a NOP does not begin there.
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
        // SAFETY: from there on it is NOPs, and the end, which returns what it is given.
        Self(unsafe { core::mem::transmute::<*const u8, RawBody>(at) })
    }

    /// Runs through so many bytes of NOPs, and returns the word that it is given.
    #[must_use]
    pub fn run_nops(bytes: u32, word: u32) -> u32 {
        let Self(body) = Self::nops(4, bytes);
        // SAFETY: NOPs and their end reach nothing, and return what is given.
        unsafe { body(core::ptr::without_provenance_mut(word as usize)) }
    }
}

/// A body in Rust, and what it takes.
pub struct Body<A>(RawBody, core::marker::PhantomData<fn(A)>);

impl<A> Clone for Body<A> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<A> Copy for Body<A> {}

impl<A: Argument> Body<A> {
    /// A body that takes this and returns a word or two.
    pub const fn new<R: Return>(body: extern "C" fn(A) -> R) -> Self {
        // SAFETY: an Argument is passed in a0, as a pointer is. What it returns is in a0, and in a1,
        // which the sampler keeps, too; nothing else of the two types differs.
        let raw = unsafe { core::mem::transmute::<extern "C" fn(A) -> R, RawBody>(body) };
        Self(raw, core::marker::PhantomData)
    }
}

impl Body<&'static Buffer> {
    /// A body that has the buffer's memory to itself.
    pub const fn given<R: Return>(body: extern "C" fn(Given<'_>) -> R) -> Self {
        // SAFETY: a Given is a reference to the buffer; for R see `new`.
        let raw = unsafe { core::mem::transmute::<extern "C" fn(Given<'_>) -> R, RawBody>(body) };
        Self(raw, core::marker::PhantomData)
    }
}

impl<A> Body<A> {
    /// In the place of one in assembly.
    ///
    /// # Safety
    ///
    /// It is given an `A`: what is an [`Asm`] may be measured with anything.
    pub const unsafe fn stand_in(self) -> Asm {
        Asm(self.0)
    }
}

/// What can be measured with an argument of this type.
pub trait Measurable<A> {
    /// As the sampler has it.
    fn raw(self) -> Asm;
}

/// Assembly is trusted to be given what its file says.
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

/// What a body may be given in a0.
///
/// # Safety
///
/// It is passed in one register, and `word` gives what is in it. What it leads to is there for ever.
pub unsafe trait Argument {
    /// What is in the register.
    fn word(self) -> usize;
}

// SAFETY: nothing, which a body may have as a 0.
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
        // SAFETY: a reference that holds for ever.
        unsafe impl Argument for &'static $type {
            fn word(self) -> usize {
                core::ptr::from_ref(self) as usize
            }
        }
    )* };
}
argument!(AtomicU8, AtomicU32, Buffer, Write);

/// What a row's body works on, at one place from `setup` to the row's end.
///
/// ```ignore
/// static STAGE: Stage<Lent> = Stage::new();
/// STAGE.measure(run, fill, area)?; // in setup: extern "C" fn fill(area: &mut Lent) -> u32
/// let area = STAGE.take(run);      // in finish
/// ```
pub struct Stage<T>(UnsafeCell<Option<T>>);

// SAFETY: an app has one thread, and an upcall, which may interrupt a yield, gets hold of no `&mut Run`,
// without which nothing here is reached.
unsafe impl<T> Sync for Stage<T> {}

impl<T: 'static> Stage<T> {
    /// Without a value.
    pub const fn new() -> Self {
        Self(UnsafeCell::new(None))
    }

    /// Measure a body in Rust on this value.
    pub fn measure<R: Return>(
        &'static self,
        run: &mut Run,
        body: extern "C" fn(&mut T) -> R,
        value: T,
    ) -> Outcome {
        // SAFETY: a reference to T is passed as a pointer is; for R see Body::new.
        let raw = unsafe { core::mem::transmute::<extern "C" fn(&mut T) -> R, RawBody>(body) };
        self.measure_asm(run, Asm(raw), value)
    }

    /// Measure a body in assembly on it.
    pub fn measure_asm(&'static self, run: &mut Run, body: Asm, value: T) -> Outcome {
        let address = core::ptr::from_mut(self.keep(run, value)).expose_provenance();
        run.measure(body, address)
    }

    /// Have the value there, whatever is measured.
    pub fn keep<'run>(&'static self, run: &'run mut Run, value: T) -> &'run mut T {
        run.measure_nothing();
        // SAFETY: nobody else looks at it: a body that may is not called now, since a hook runs,
        // which lent us its Run, and there is but one.
        unsafe { (*self.0.get()).insert(value) }
    }

    /// Look at the value, if it is there.
    pub fn get<'run>(&'static self, _run: &'run mut Run) -> Option<&'run mut T> {
        // SAFETY: as for `keep`: as long as the reference holds, the hook has not come to its end.
        unsafe { (*self.0.get()).as_mut() }
    }

    /// Take the value back, if it is there: then nothing is measured any more.
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
