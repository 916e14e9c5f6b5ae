/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * A whole program as a benchmark. A sample is one whole run, by the sampler of all rows; between
 * samples the program gets its input again, and its answer is checked.
 *
 * A program makes no system calls, so the same object runs in user mode on a kernel and in machine
 * mode without a kernel (bare/).
 */
#ifndef TM_PROGRAMS_PROGRAM_H
#define TM_PROGRAMS_PROGRAM_H

#include "bench.h"

#include "programs_rows.h" /* generated from the catalogue */

/* The app's stack in bytes, a plain number that app.ld reads. */
#define TM_STACK(bytes) __asm__(".globl tm_stack\n\t.set tm_stack, " #bytes)

/* `value` has the values of the row's parameters. */
struct tm_program {
    void (*prepare)(const uint32_t *value); /* sets the input, clears the last answer */
    tm_body *run;                           /* returns 0 */
    bool (*is_right)(const uint32_t *value);
};

/* The single row of a program's app, and the app's parts. */
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

/* Setup: fill the free part of the stack with a pattern. */
bool tm_program_begin(struct tm_run *run);

/* Take one sample. Returns false if a counter read failed. */
bool tm_program_sample(struct tm_run *run);

/* A wrong answer is an error of the row. */
bool tm_program_answer(struct tm_run *run, bool is_right);

/* Finish: report the most stack used, in a record of its own. A stack without a free word is an
 * error of the row, since it may have overflowed. */
bool tm_program_end(struct tm_run *run);

#endif
