// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The parts of the C runtime (apps/runtime) that an app uses in addition to system calls: the benchmark
//! harness, whose structures are declared here again, the words from the linker, and the end of an app that
//! panics. A benchmark uses only safe parts; `bench.h` documents each of them.

mod bench;
mod export;
pub mod flash;
#[cfg(feature = "programs")]
pub mod program;
mod span;
#[cfg_attr(target_arch = "arm", allow(dead_code))] // its Words: words.rs replaces them
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

/// The settings of the whole run, which the link command defines: `struct tm_link` of `bench.h`.
#[repr(C)]
#[derive(Debug)]
pub struct Link {
    apps: u32,
    steady_stop: u32,
    /// The number of the boot's scene.
    pub scene: u32,
    /// This app's index in the order of flash.
    pub slot: u32,
    /// The number of apps.
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

/// Returns the words of this app's link.
#[inline]
pub fn link() -> &'static Link {
    // SAFETY: crt0.S defines it as a constant with these fields, and nothing changes it.
    unsafe { &tm_link }
}

/// Prints where an app panicked, as a `fail` record, and ends the app.
pub fn panicked(info: &core::panic::PanicInfo<'_>) -> ! {
    let (file, line) = info
        .location()
        .map_or(("?", 0), |at| (at.file(), at.line()));
    // SAFETY: the text has this length, and C only reads it.
    unsafe { tm_panic(file.as_ptr(), file.len() as u32, line) }
}

/// Returns `WORDS` words of the samples' memory, for an app that is short of RAM. None if the row's samples
/// need that memory.
#[must_use]
pub fn behind_samples<const WORDS: usize>(run: &Run) -> Option<&'static [AtomicU32; WORDS]> {
    let words = tm_behind_samples(run.samples(), WORDS as u32);
    // SAFETY: there are this many words after the samples of this row, and they live for ever. If a row with
    // more samples uses them, the harness writes them as words between two calls of the app's; an atomic may
    // change at any time.
    unsafe { words.cast::<[AtomicU32; WORDS]>().as_ref() }
}

/// Starts a sample by the simulator's clock.
#[inline]
pub fn arm() {
    tm_mark_arm();
}

/// Faults, with the mark `fault` at the exact instruction.
#[inline]
pub fn fault() {
    tm_fault();
}

/// Ends and asks for a restart, with the mark `exit` at the exact instruction. Version 1 has no exit: there
/// it returns.
#[inline]
pub fn restart() {
    tm_restart();
}

/// Memory for a [`Buffer`]: only the body that gets the buffer accesses it.
#[derive(Debug)]
pub struct Bytes<const MOST: usize>(UnsafeCell<[u8; MOST]>);

// SAFETY: an app has one thread, and its bodies run one at a time.
unsafe impl<const MOST: usize> Sync for Bytes<MOST> {}

impl<const MOST: usize> Bytes<MOST> {
    /// Makes memory of zeros.
    #[allow(clippy::new_without_default)] // it is for statics
    pub const fn new() -> Self {
        Self(UnsafeCell::new([0; MOST]))
    }

    /// Returns its address.
    pub fn address(&self) -> usize {
        self.0.get().expose_provenance()
    }
}

/// A buffer in the form that bodies in assembly take: `struct tm_allow`.
#[repr(C)]
#[derive(Debug)]
pub struct Buffer {
    address: AtomicUsize,
    length: AtomicU32,
}

impl Buffer {
    /// Makes an empty buffer.
    #[allow(clippy::new_without_default)] // it is for statics
    pub const fn new() -> Self {
        Self {
            address: AtomicUsize::new(1), // a slice, even an empty one, cannot be at 0
            length: AtomicU32::new(0),
        }
    }

    /// Sets it to the first `length` bytes of this memory, or to all if there are fewer.
    pub fn set<const MOST: usize>(&self, memory: &'static Bytes<MOST>, length: u32) {
        self.address.store(memory.address(), Relaxed);
        self.length.store(length.min(MOST as u32), Relaxed);
    }
}

/// A buffer that the sampler gives to a body in Rust: [`Body::given`].
#[repr(transparent)]
#[derive(Debug)]
pub struct Given<'body>(&'body Buffer);

impl Given<'_> {
    /// Returns its memory, which nothing else uses while the body runs.
    #[inline(always)]
    pub fn bytes(&mut self) -> &mut [u8] {
        let start = core::ptr::with_exposed_provenance_mut(self.0.address.load(Relaxed));
        let length = self.0.length.load(Relaxed) as usize;
        // SAFETY: there is no memory yet, or `set` took it from a `Bytes`, where nothing else accesses it:
        // only the sampler makes a `Given`, which does not outlive the body that it calls.
        unsafe { core::slice::from_raw_parts_mut(start, length) }
    }
}

/// A console write: `struct tm_write`.
#[repr(C)]
#[derive(Debug)]
pub struct Write {
    /// Its completions so far.
    pub upcalls: AtomicU32,
    /// The length in bytes.
    pub length: AtomicU32,
}

/// Returns the address of the assembly upcall that counts.
#[must_use]
pub fn counting_upcall() -> usize {
    (tm_upcall_count as *const ()).expose_provenance()
}

/// Subscribes the upcall that adds one to the count.
pub fn count_upcalls(driver: u32, number: u32, count: &'static AtomicU32) -> Result<(), ErrorCode> {
    let data = core::ptr::from_ref(count).into();
    // SAFETY: it adds one to the word at its fourth argument, which lives for ever and is an atomic; the app
    // has one thread, so nothing comes in between.
    unsafe { subscribe_function::<Kernel>(driver, number, tm_upcall_count, data) }
}

/// An upcall whose first instruction is a mark: `mark_upcall!` makes it.
pub type Marked = extern "C" fn(u32, u32, u32, u32);

/// Subscribes a marked upcall.
pub fn subscribe_marked(driver: u32, number: u32, upcall: Marked) -> Result<(), ErrorCode> {
    // SAFETY: a register is passed like a word, and all values of a word are valid.
    let function = unsafe { core::mem::transmute::<Marked, UpcallFunction>(upcall) };
    // SAFETY: the function needs no data.
    unsafe { subscribe_function::<Kernel>(driver, number, function, 0_u32.into()) }
}
