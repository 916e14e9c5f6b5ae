/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The app icache: straight runs of NOPs, which show the size of the instruction cache. They are in
 * asm/nops.S. */
#include "bench.h"

enum { PASSED = 0x5eed };

/* The body starts this many bytes before the end of the run. It returns its argument. */
static bool setup(struct tm_run *run) {
    tm_body *end = run->value[0] == 2 ? tm_nops_2_end : tm_nops_4_end;
    run->shot.body = (tm_body *)((uintptr_t)end - run->value[1]);
    run->shot.arg = (void *)PASSED;
    return true;
}

TM_BENCH(icache_nops, .expect = PASSED, .setup = setup);
TM_APP(icache);
