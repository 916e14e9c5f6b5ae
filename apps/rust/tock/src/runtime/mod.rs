// SPDX-License-Identifier: Apache-2.0 OR MIT

//! What an app has of the C runtime (apps/runtime) besides system calls: its benchmark harness, whose
//! structures are declared here once more, its words from the linker, and how an app ends that panics.
//! A benchmark is made of safe parts only; `bench.h` tells what each is for.

mod bench;
mod export;
pub mod flash;
#[cfg(feature = "programs")]
pub mod program;
mod span;
#[cfg_attr(target_arch = "arm", allow(dead_code))] // its Words: words.rs
mod stage;
mod text;
#[cfg(target_arch = "arm")]
mod words;

use core::cell::UnsafeCell;
use core::sync::atomic::{AtomicU32, AtomicUsize, Ordering::Relaxed};

use crate::syscalls::subscribe_function;
use crate::{ErrorCode, Kernel, Register, UpcallFunction};

pub use bench::{App, Bench, By, Hook, Outcome, Param, Run, Shot, Stop};
pub use span::{Span, read_words};
#[cfg(not(target_arch = "arm"))]
pub use stage::Words;
pub use stage::{Argument, Asm, Body, Measurable, Return, Stage};
pub use text::Text;
#[cfg(target_arch = "arm")]
pub use words::Words;

/// What the link command says of the whole run: `struct tm_link` of `bench.h`.
#[repr(C)]
#[derive(Debug)]
pub struct Link {
    apps: u32,
    steady_stop: u32,
    scene: u32,
    /// Where this app is in the order of the flash, from 0.
    pub slot: u32,
    /// How many apps there are.
    pub slots: u32,
    most_samples: u32,
    only: u32,
    image: u32,
    boot: [u8; 24],
}

unsafe extern "C" {
    static tm_link: Link;
    fn tm_panic(file: *const u8, length: u32, line: u32) -> !;
    safe fn tm_behind_samples(samples: u32, words: u32) -> *const AtomicU32;
    safe fn tm_mark_arm();
    safe fn tm_fault();
    safe fn tm_restart();
    fn tm_upcall_count(first: Register, second: Register, third: Register, count: Register);
}

/// The words of this app's link.
#[inline]
pub fn link() -> &'static Link {
    // SAFETY: crt0.S has it among the constants, with these fields, and nothing changes it.
    unsafe { &tm_link }
}

/// Say where an app panicked, as a `fail` record, and end it.
pub fn panicked(info: &core::panic::PanicInfo<'_>) -> ! {
    let (file, line) = info
        .location()
        .map_or(("?", 0), |at| (at.file(), at.line()));
    // SAFETY: the text is as long as it says, and C only reads it.
    unsafe { tm_panic(file.as_ptr(), file.len() as u32, line) }
}

/// Words of the memory for samples that a run of so many does not take, for an app that is short of RAM:
/// there are `WORDS` of them, or none.
#[must_use]
pub fn behind_samples<const WORDS: usize>(run: &Run) -> Option<&'static [AtomicU32; WORDS]> {
    let words = tm_behind_samples(run.samples(), WORDS as u32);
    // SAFETY: there are as many words behind the samples of this row, which are there for ever. The
    // harness writes those of a row with more samples, if at all, as words between two calls of the
    // app's; an atomic may change at any time.
    unsafe { words.cast::<[AtomicU32; WORDS]>().as_ref() }
}

/// A sample by the simulator's clock begins here.
#[inline]
pub fn arm() {
    tm_mark_arm();
}

/// Do what no app may, with the mark `fault` at the very instruction.
#[inline]
pub fn fault() {
    tm_fault();
}

/// End, and want to start again, with the mark `exit` at the very instruction. Version 1 has no exit:
/// there it returns.
#[inline]
pub fn restart() {
    tm_restart();
}

/// Memory for a [`Buffer`]: nobody but the body that is given one reaches it.
#[derive(Debug)]
pub struct Bytes<const MOST: usize>(UnsafeCell<[u8; MOST]>);

// SAFETY: an app has one thread, and its bodies run one at a time.
unsafe impl<const MOST: usize> Sync for Bytes<MOST> {}

impl<const MOST: usize> Bytes<MOST> {
    /// Zeros.
    #[allow(clippy::new_without_default)] // it is for statics
    pub const fn new() -> Self {
        Self(UnsafeCell::new([0; MOST]))
    }

    /// Where they are.
    pub fn address(&self) -> usize {
        self.0.get().expose_provenance()
    }
}

/// A buffer as the bodies in assembly are given one: `struct tm_allow`.
#[repr(C)]
#[derive(Debug)]
pub struct Buffer {
    address: AtomicUsize,
    length: AtomicU32,
}

impl Buffer {
    /// None yet.
    #[allow(clippy::new_without_default)] // it is for statics
    pub const fn new() -> Self {
        Self {
            address: AtomicUsize::new(1), // a slice, even of nothing, is nowhere at 0
            length: AtomicU32::new(0),
        }
    }

    /// The first so many bytes of these, or all if there are no more.
    pub fn set<const MOST: usize>(&self, memory: &'static Bytes<MOST>, length: u32) {
        self.address.store(memory.address(), Relaxed);
        self.length.store(length.min(MOST as u32), Relaxed);
    }
}

/// A buffer as the sampler gives it to a body in Rust: [`Body::given`].
#[repr(transparent)]
#[derive(Debug)]
pub struct Given<'body>(&'body Buffer);

impl Given<'_> {
    /// Its memory, which is the body's alone as long as it runs.
    #[inline(always)]
    pub fn bytes(&mut self) -> &mut [u8] {
        let start = core::ptr::with_exposed_provenance_mut(self.0.address.load(Relaxed));
        let length = self.0.length.load(Relaxed) as usize;
        // SAFETY: there are none yet, or `set` took them from a `Bytes`, where nobody else reaches
        // them: the sampler alone makes a `Given`, which does not outlive the body that it calls.
        unsafe { core::slice::from_raw_parts_mut(start, length) }
    }
}

/// What a console write is of: `struct tm_write`.
#[repr(C)]
#[derive(Debug)]
pub struct Write {
    /// Its completions so far.
    pub upcalls: AtomicU32,
    /// In bytes.
    pub length: AtomicU32,
}

/// The address of the upcall in assembly that counts.
#[must_use]
pub fn counting_upcall() -> usize {
    (tm_upcall_count as *const ()).expose_provenance()
}

/// Subscribe it: it adds one to the count.
pub fn count_upcalls(driver: u32, number: u32, count: &'static AtomicU32) -> Result<(), ErrorCode> {
    let data = core::ptr::from_ref(count).into();
    // SAFETY: it adds one to the word that its fourth argument leads to, which is there for ever and
    // an atomic; the app has one thread, in which nothing comes between.
    unsafe { subscribe_function::<Kernel>(driver, number, tm_upcall_count, data) }
}

/// An upcall whose first instruction is a mark: `mark_upcall!` makes it.
pub type Marked = extern "C" fn(u32, u32, u32, u32);

/// Subscribe it.
pub fn subscribe_marked(driver: u32, number: u32, upcall: Marked) -> Result<(), ErrorCode> {
    // SAFETY: a register is passed as a word is, of which any value is good.
    let function = unsafe { core::mem::transmute::<Marked, UpcallFunction>(upcall) };
    // SAFETY: it needs nothing to be there.
    unsafe { subscribe_function::<Kernel>(driver, number, function, 0_u32.into()) }
}
