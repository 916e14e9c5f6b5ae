/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The code that all programs share: see program.h. */
#include "program.h"
#include "records.h"

#define PATTERN 0x5aa5c33cU
/* The most that this procedure may use below its frame's address. */
#define OWN 64
#define PHASES 16
#define TURNS 500 /* of a loop of about 12 cycles */

/* The stack is first in RAM (app.ld). */
static uint32_t *lowest(void) {
    uint32_t bottom;
    __asm__("lui %0, %%hi(tm_ram_start)\n\taddi %0, %0, %%lo(tm_ram_start)" : "=r"(bottom));
    return (uint32_t *)bottom;
}

/* The start of the stack of the hooks, and so of all samples. */
static uint32_t *begun;

__attribute__((noinline)) bool tm_program_begin(struct tm_run *run) {
    (void)run;
    begun = __builtin_frame_address(0);
    for (volatile uint32_t *word = lowest(); word < begun - OWN / sizeof *begun; word++)
        *word = PATTERN;
    return true;
}

/* Wait longer before each sample, in PHASES steps of about 6,000 cycles, so that the samples of a
 * row start at other times after an alarm of another app. */
static void shift(void) {
    static uint32_t samples;
    for (volatile uint32_t turns = samples++ % PHASES * TURNS; turns; turns--)
        ;
}

bool tm_program_sample(struct tm_run *run) {
    shift();
    tm_sample(&run->shot);
    /* For both readers: this object is linked with both samplers. */
    if (run->shot.read_before >= TOCK_SUCCESS && run->shot.read_after >= TOCK_SUCCESS)
        return true;
    return tm_fail(run, "reading", "WRONG_RESULT");
}

bool tm_program_answer(struct tm_run *run, bool is_right) {
    return (is_right && run->shot.result[0] == 0) || tm_fail(run, "answer", "WRONG_RESULT");
}

bool tm_program_end(struct tm_run *run) {
    const volatile uint32_t *word = lowest();
    if (*word != PATTERN)
        return tm_fail(run, "stack", "OVERFLOW");
    while (word < begun && *word == PATTERN)
        word++;
    if (run->failed_call)
        return false;
    tm_begin_record(run, "stack");
    tm_record_number(&tm_log, "bytes", (uint32_t)(begun - word) * sizeof *begun);
    tm_record_end(&tm_log);
    return true;
}
