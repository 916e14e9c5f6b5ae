/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The marks that every app has which has any, and their control; other apps are linked without. */
#include "mark.h"
#include "bench.h"

TM_MARK(arm)

/* Two marks at one place: between them there is no time. */
TM_MARK(null)
__asm__(".globl tm_mark_null_end\n\t.set tm_mark_null_end, tm_mark_null");

static bool sample_null(struct tm_run *run) {
    (void)run;
    tm_mark_arm();
    tm_mark_null();
    return true;
}

TM_BENCH_OWN(null_mark, .from = "null", .to = "null_end", .sample = sample_null);
