/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The marks that all apps with marks have, and their control. Other apps are linked without this
 * file. */
#include "mark.h"
#include "bench.h"

TM_MARK(arm)

/* Two marks at the same address: no time passes between them. */
TM_MARK(null)
__asm__(".globl tm_mark_null_end\n\t.set tm_mark_null_end, tm_mark_null");

static bool sample_null(struct tm_run *run) {
    (void)run;
    tm_mark_arm();
    tm_mark_null();
    return true;
}

TM_BENCH_OWN(null_mark, .from = "null", .to = "null_end", .sample = sample_null);
