/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * A whole program as a benchmark. A sample is one whole run of it, by the sampler of all rows;
 * outside of the sample it is given its input anew, and its answer is held against the known one.
 *
 * A program makes no system calls and knows no kernel, so the very same object runs in user mode on
 * a kernel and in machine mode without one (bare/).
 */
#ifndef TM_PROGRAMS_PROGRAM_H
#define TM_PROGRAMS_PROGRAM_H

#include "bench.h"

#include "programs_rows.h" /* of its catalogue */

/* How much stack the app gets, a plain number of bytes: app.ld asks for it. */
#define TM_STACK(bytes) __asm__(".globl tm_stack\n\t.set tm_stack, " #bytes)

/* `value` is of the row's parameters. */
struct tm_program {
    void (*prepare)(const uint32_t *value); /* gives the input, takes the last answer away */
    tm_body *run;                           /* returns 0 */
    bool (*is_right)(const uint32_t *value);
};

/* The one row of a program's app, and what the app consists of. */
#define TM_PROGRAM(group, row, bytes, ...)                                                         \
    TM_STACK(bytes);                                                                               \
    static const struct tm_program program = {__VA_ARGS__};                                        \
    static bool setup(struct tm_run *run) {                                                        \
        run->shot.body = program.run;                                                              \
        return tm_program_begin(run);                                                              \
    }                                                                                              \
    static bool sample(struct tm_run *run) {                                                       \
        program.prepare(run->value);                                                               \
        return tm_program_sample(run) && tm_program_answer(run, program.is_right(run->value));     \
    }                                                                                              \
    TM_BENCH(row, .setup = setup, .sample = sample, .finish = tm_program_end);                     \
    TM_APP(group)

/* Setup: fill what is free of the stack with a pattern. */
bool tm_program_begin(struct tm_run *run);

/* Take one sample. False where a reading failed. */
bool tm_program_sample(struct tm_run *run);

/* A wrong answer is an error of the row. */
bool tm_program_answer(struct tm_run *run, bool is_right);

/* Finish: say how much of the stack was ever used, in a record of its own. A stack without a free
 * word is an error of the row: it may have overflowed. */
bool tm_program_end(struct tm_run *run);

#endif
