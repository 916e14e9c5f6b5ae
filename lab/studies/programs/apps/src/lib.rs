// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Whole programs in Rust: `program.h` says what a program is, and what its row does around it.

#![no_std]

use tock::runtime::{Outcome, Run, Stage, program};

/// What the catalogue says of every benchmark, and the bodies in assembly: apps/generate.py.
pub mod rows {
    include!(concat!(env!("OUT_DIR"), "/rows.rs"));
}

/// A program, with its input and its answer.
pub trait Program: Sized + 'static {
    /// By the row's second parameter, 0 if it has none.
    fn new(parameter: u32) -> Self;

    /// Give it its input, and take the last answer away.
    fn prepare(&mut self);

    /// All of it: what a sample is.
    fn work(&mut self);

    /// Whether the answer is the known one.
    fn is_right(&self) -> bool;
}

/// Hook `setup` of a program's row.
pub fn setup<P: Program>(stage: &'static Stage<P>, run: &mut Run) -> Outcome {
    place(stage, run)?;
    program::begin(run)
}

// What is large in these is on the stack only as long as they run: the hooks' own frames stay small, so
// that the program's stack begins where that of the hook `setup` does.

#[inline(never)]
fn place<P: Program>(stage: &'static Stage<P>, run: &mut Run) -> Outcome {
    extern "C" fn work<P: Program>(it: &mut P) -> u32 {
        it.work();
        0
    }
    let new = P::new(run.value(1));
    stage.measure(run, work::<P>, new)
}

#[inline(never)]
fn prepare<P: Program>(stage: &'static Stage<P>, run: &mut Run) {
    if let Some(it) = stage.get(run) {
        it.prepare();
    }
}

#[inline(never)]
fn is_right<P: Program>(stage: &'static Stage<P>, run: &mut Run) -> bool {
    stage.get(run).is_some_and(|it| it.is_right())
}

/// Hook `sample`.
pub fn sample<P: Program>(stage: &'static Stage<P>, run: &mut Run) -> Outcome {
    prepare(stage, run);
    program::sample(run)?;
    let is_right = is_right(stage, run);
    program::answer(run, is_right)
}

/// The app of a program: its group, its one row, its stack in bytes, and its type.
#[macro_export]
macro_rules! program {
    ($group:literal, $row:ident, $benches:ident, $stack:literal, $type:ty) => {
        mod app {
            use super::*;
            use $crate::rows;

            static STAGE: ::tock::runtime::Stage<$type> = ::tock::runtime::Stage::new();
            ::tock::bench!(
                $row,
                setup: |run| $crate::setup(&STAGE, run),
                sample: |run| $crate::sample(&STAGE, run),
                finish: |run| ::tock::runtime::program::end(run),
            );
            ::tock::stack!($stack);
            ::suite::app!($group, $crate::$benches!());
        }
    };
}
