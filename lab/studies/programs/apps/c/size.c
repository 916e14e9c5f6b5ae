/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The app size: kernel and memory costs that depend on a size. It measures the time from reset to
 * this app's first instruction, with another app of this size behind it (pad.c), an allow of a
 * buffer, and reading flash. The bodies are the suite's.
 */
#include "bench.h"
#include "mark.h"
#include "programs_rows.h"

static uint8_t buffer[TM_MAX_size_allow_size];
static struct tm_allow allow;
static struct tm_span span;

/* Otherwise this app would be linked without the control of rows by marks. */
__attribute__((used)) static void (*const marked)(void) = tm_mark_arm;

/* The measured time is over before this app runs. */
static bool sample_load(struct tm_run *run) {
    (void)run;
    return true;
}

static bool setup_allow(struct tm_run *run) {
    allow = (struct tm_allow){buffer, run->value[0]};
    run->shot.arg = &allow;
    return true;
}

static bool finish_allow(struct tm_run *run) {
    return tm_verify(run, run->shot.result[1] == (uintptr_t)buffer);
}

static bool setup_flash(struct tm_run *run) {
    uint32_t *from = (uint32_t *)(uintptr_t)tm_flash_table, words = run->value[0] / 4;
    span = (struct tm_span){0, from, from + words};
    run->shot.arg = &span;
    run->expect = tm_flash_table[words - 1];
    return true;
}

TM_BENCH(size_load, .from = "reset", .to = "start", .sample = sample_load);
TM_BENCH(size_allow, .body = tm_syscall_allow_rw, .expect = TOCK_SUCCESS_U32_U32,
         .call = "allow_rw", .setup = setup_allow, .finish = finish_allow);
TM_BENCH(size_flash, .body = tm_read_words, .setup = setup_flash);
TM_APP(size);
