// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The hooks of a row that measures a whole program: `lab/studies/programs/apps/program.h`. Only programs are
//! linked with these.

use super::bench::{Outcome, Run, Stop};

unsafe extern "C" {
    safe fn tm_program_begin(run: &mut Run) -> bool;
    safe fn tm_program_sample(run: &mut Run) -> bool;
    safe fn tm_program_answer(run: &mut Run, is_right: bool) -> bool;
    safe fn tm_program_end(run: &mut Run) -> bool;
}

fn outcome(is_good: bool) -> Outcome {
    if is_good { Ok(()) } else { Err(Stop::RECORDED) }
}

/// Fills the free part of the stack with a pattern.
pub fn begin(run: &mut Run) -> Outcome {
    outcome(tm_program_begin(run))
}

/// Takes one sample of the body that `setup` chose.
pub fn sample(run: &mut Run) -> Outcome {
    outcome(tm_program_sample(run))
}

/// Fails the row if the answer is wrong.
pub fn answer(run: &mut Run, is_right: bool) -> Outcome {
    outcome(tm_program_answer(run, is_right))
}

/// Prints how much of the stack was used.
pub fn end(run: &mut Run) -> Outcome {
    outcome(tm_program_end(run))
}
