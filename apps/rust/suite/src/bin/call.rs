// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The app call: the cost of procedure calls. The bodies are in asm/calls.S, except the one that the compiler
//! makes.

#![no_std]
#![no_main]

use suite::rows::{self, bodies};
use suite::{app, benches_call};
use tock::bench;
use tock::runtime::{Asm, Outcome, Run, Stage};

const RETURNED: u32 = 42;

/// The body loads the pointer from memory, as a caller does that keeps one in a structure.
fn setup_indirect(run: &mut Run) -> Outcome {
    static POINTER: Stage<Asm> = Stage::new();
    POINTER.measure_asm(run, bodies::tm_call_indirect, bodies::tm_procedure_return)
}

/// The arguments are 1 to n; the body returns their sum.
fn setup_args(run: &mut Run) -> Outcome {
    const BODIES: [Asm; rows::call_args::n::MAX as usize] = [
        bodies::tm_call_args_1,
        bodies::tm_call_args_2,
        bodies::tm_call_args_3,
        bodies::tm_call_args_4,
        bodies::tm_call_args_5,
        bodies::tm_call_args_6,
        bodies::tm_call_args_7,
        bodies::tm_call_args_8,
        bodies::tm_call_args_9,
        bodies::tm_call_args_10,
    ];
    let n = run.value(0);
    run.expect(n * (n + 1) / 2);
    run.measure(BODIES[n as usize - 1], n)
}

trait Object: Sync {
    fn word(&self) -> u32;
}

struct Word(u32);

impl Object for Word {
    fn word(&self) -> u32 {
        self.0
    }
}

fn setup_object(run: &mut Run) -> Outcome {
    static OBJECT: Word = Word(RETURNED);
    static STAGE: Stage<&dyn Object> = Stage::new();
    run.expect(RETURNED * rows::call_object::INNER);
    STAGE.measure(run, sum_of, &OBJECT)
}

extern "C" fn sum_of(object: &mut &'static dyn Object) -> u32 {
    (0..rows::call_object::INNER).map(|_| object.word()).sum()
}

bench!(call_void, body: bodies::tm_call_void);
bench!(call_return, body: bodies::tm_call_return, expect: RETURNED);
bench!(call_args, setup: setup_args);
bench!(call_indirect, expect: RETURNED, setup: setup_indirect);
bench!(call_object, setup: setup_object);
app!(c"call", benches_call!());
