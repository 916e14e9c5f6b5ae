// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The structures of the C harness: `bench.h` and `asm/shot.h`. tests/test_rust_layout.py compares them with
//! these.

use core::ffi::CStr;
use core::fmt;
use core::ptr::null;

use super::stage::{Argument, Asm, Measurable};
use super::text::{Text, error_name};
use crate::ErrorCode;

/// The method of taking a row's samples.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
#[allow(missing_docs)] // bench.h documents it
pub enum By {
    Sampler,
    Reading,
    Mark,
}

/// A parameter, `struct tm_param`. Its values are numbers, or names; hooks use a name's index.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct Param {
    name: Text,
    numbers: *const u32,
    names: *const Text,
    count: u32,
}

// SAFETY: it points to constants, which do not change.
unsafe impl Sync for Param {}

impl Param {
    /// A parameter that does not exist.
    pub const NONE: Self = Self {
        name: Text::NONE,
        numbers: null(),
        names: null(),
        count: 0,
    };

    /// A parameter whose values are numbers.
    pub const fn numbers(name: &'static CStr, values: &'static [u32]) -> Self {
        let count = values.len() as u32;
        Self {
            name: Text::new(name),
            numbers: values.as_ptr(),
            count,
            ..Self::NONE
        }
    }

    /// A parameter whose values are names.
    pub const fn names(name: &'static CStr, values: &'static [Text]) -> Self {
        let count = values.len() as u32;
        Self {
            name: Text::new(name),
            names: values.as_ptr(),
            count,
            ..Self::NONE
        }
    }
}

/// The row is given up; a hook has recorded the reason ([`Run::skip`], [`Run::fail`]).
#[derive(Debug)]
pub struct Stop(());

/// The result of a hook.
pub type Outcome = Result<(), Stop>;

/// A hook as C calls it: returns false to give the row up. `bench!` makes it.
pub type Hook = extern "C" fn(&mut Run) -> bool;

/// A benchmark's definition: `struct tm_bench`. The catalogue gives its `ROW`; `bench!` adds the rest.
#[derive(Clone, Copy)]
#[repr(C)]
#[allow(missing_docs)] // bench.h documents it
pub struct Bench {
    id: Text,
    samples: u32,
    inner: u32,
    by: By,
    passes: u32,
    scenes: u32,
    skip: Text,
    params: [Param; 2],
    /// A body in assembly without an argument; `None`: `setup` sets the body.
    pub body: Option<Asm>,
    pub expect: u32,
    pub returns_any: bool,
    pub call: Text,
    pub from: Text,
    pub to: Text,
    pub events_to: u32,
    pub all_samples: bool,
    pub setup: Option<Hook>,
    pub before: Option<Hook>,
    pub sample: Option<Hook>,
    pub finish: Option<Hook>,
}

impl Bench {
    /// Makes a benchmark with the fields that every entry of the catalogue has.
    pub const fn of(id: &'static CStr, samples: u32, inner: u32) -> Self {
        Self {
            id: Text::new(id),
            samples,
            inner,
            by: By::Sampler,
            passes: 0,
            scenes: 1,
            skip: Text::NONE,
            params: [Param::NONE; 2],
            body: None,
            expect: 0,
            returns_any: false,
            call: Text::NONE,
            from: Text::NONE,
            to: Text::NONE,
            events_to: 0,
            all_samples: false,
            setup: None,
            before: None,
            sample: None,
            finish: None,
        }
    }

    /// Sets the method of taking samples, and how many extra calls of the body measure its slope.
    pub const fn taken(self, by: By, passes: u32) -> Self {
        Self { by, passes, ..self }
    }

    /// Sets its scenes, one bit each.
    pub const fn in_scenes(self, scenes: u32) -> Self {
        Self { scenes, ..self }
    }

    /// Sets why it does not run in version 1 of the interface, and in version 2.
    pub const fn skipped(self, v1: Option<&'static CStr>, v2: Option<&'static CStr>) -> Self {
        let skip = Text::maybe(if cfg!(feature = "abi-v1") { v1 } else { v2 });
        Self { skip, ..self }
    }

    /// Sets its parameters.
    pub const fn with(self, params: [Param; 2]) -> Self {
        Self { params, ..self }
    }
}

/// One measurement: `struct tm_shot`.
#[repr(C)]
pub struct Shot {
    body: Option<Asm>,
    arg: usize,
    #[cfg(feature = "abi-v1")]
    counter: u32,
    cycles: u32,
    #[cfg(not(feature = "abi-v1"))]
    instret: u32,
    #[cfg(not(feature = "abi-v1"))]
    read_before: u32,
    #[cfg(not(feature = "abi-v1"))]
    read_after: u32,
    result: [u32; 2],
    passes: u32,
}

/// One row while it is being measured: `struct tm_run`.
#[repr(C)]
pub struct Run {
    bench: &'static Bench,
    value: [u32; 2],
    samples: u32,
    passes: u32,
    expect: u32,
    to: Text,
    shot: Shot,
    skip_reason: Text,
    failed_call: Text,
    failed_error: Text,
}

impl Run {
    /// A parameter's value: a number, or the index of a name.
    pub fn value(&self, parameter: usize) -> u32 {
        self.value[parameter]
    }

    /// The most samples that the row takes.
    pub fn samples(&self) -> u32 {
        self.bench.samples
    }

    /// Operations per sample.
    pub fn inner(&self) -> u32 {
        self.bench.inner
    }

    /// Sets the word that the body has to return.
    pub fn expect(&mut self, word: u32) {
        self.expect = word;
    }

    /// Sets the mark at which a sample ends.
    pub fn to(&mut self, mark: &'static CStr) {
        self.to = Text::new(mark);
    }

    /// a0 and a1 after the last sample's body.
    pub fn result(&self) -> [u32; 2] {
        self.shot.result
    }

    /// Measures this body with this argument.
    pub fn measure<A: Argument>(&mut self, body: impl Measurable<A>, argument: A) -> Outcome {
        self.shot.body = Some(body.raw());
        self.shot.arg = argument.word();
        Ok(())
    }

    pub(super) fn measure_nothing(&mut self) {
        self.shot.body = Some(Asm::EMPTY);
    }

    /// The counter to read in version 1: a command of Perf.
    #[inline]
    pub fn counter(&self) -> u32 {
        #[cfg(feature = "abi-v1")]
        return self.shot.counter;
        #[cfg(not(feature = "abi-v1"))]
        0
    }

    /// Records the difference of two reads as the sample: cycles and instret, in version 1 the counter of
    /// the current pass.
    #[inline]
    pub fn put_sample(&mut self, from: [u32; 2], to: [u32; 2]) {
        self.shot.cycles = to[0].wrapping_sub(from[0]);
        #[cfg(not(feature = "abi-v1"))]
        {
            self.shot.instret = to[1].wrapping_sub(from[1]);
        }
    }

    /// The cycles of the current sample.
    pub fn cycles(&self) -> u32 {
        self.shot.cycles
    }

    /// Gives the row up: this kernel cannot run it.
    pub fn skip(&mut self, reason: &'static CStr) -> Outcome {
        self.skip_reason = Text::new(reason);
        Err(Stop(()))
    }

    /// Gives the row up: a call failed. Only the first failure is recorded.
    pub fn fail(&mut self, call: &'static CStr, error: &'static CStr) -> Outcome {
        self.failed(call, Text::new(error))
    }

    fn failed(&mut self, call: &'static CStr, error: Text) -> Outcome {
        if self.failed_call.is_none() {
            (self.failed_call, self.failed_error) = (Text::new(call), error);
        }
        Err(Stop(()))
    }

    /// Gives the row up: a call returned this error.
    pub fn fail_with(&mut self, call: &'static CStr, error: ErrorCode) -> Outcome {
        self.failed(call, error_name(error as u32))
    }

    /// Gives the row up unless a call succeeded.
    pub fn require<T>(
        &mut self,
        call: &'static CStr,
        returned: Result<T, ErrorCode>,
    ) -> Result<T, Stop> {
        returned.map_err(|error| {
            let _ = self.fail_with(call, error);
            Stop(())
        })
    }

    /// Gives the row up unless the measured operation happened.
    pub fn verify(&mut self, as_it_should: bool) -> Outcome {
        if as_it_should {
            Ok(())
        } else {
            self.fail(c"verify", c"WRONG_RESULT")
        }
    }
}

impl fmt::Debug for Run {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Run")
            .field("value", &self.value)
            .finish_non_exhaustive()
    }
}

/// The app of a group: `struct tm_app`. `app!` makes it.
#[repr(C)]
pub struct App {
    name: Text,
    lang: Text,
    cc: Text,
    benches: *const &'static Bench,
    n_benches: u32,
}

// SAFETY: as for Param.
unsafe impl Sync for App {}

impl App {
    /// Makes it from its name, its compiler and its benchmarks.
    pub const fn new(
        name: &'static CStr,
        cc: &'static CStr,
        benches: &'static [&'static Bench],
    ) -> Self {
        Self {
            name: Text::new(name),
            lang: Text::new(c"rust"),
            cc: Text::new(cc),
            benches: benches.as_ptr(),
            n_benches: benches.len() as u32,
        }
    }
}

#[cfg(feature = "programs")]
impl Stop {
    /// A hook in C has recorded the reason.
    pub(super) const RECORDED: Self = Self(());
}
