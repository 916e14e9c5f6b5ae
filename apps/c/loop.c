/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The app loop: the cost of loops and branches. The bodies are in asm/loops.S. */
#include "bench.h"

/* A body's argument is its number of iterations. */
static bool setup(struct tm_run *run) {
    run->shot.arg = (void *)(uintptr_t)run->bench->inner;
    return true;
}

static bool setup_align(struct tm_run *run) {
    static tm_body *const bodies[] = {tm_loop_empty, tm_loop_at_2, tm_loop_at_4, tm_loop_at_6};
    _Static_assert(sizeof bodies / sizeof *bodies == TM_MAX_loop_align_offset / 2 + 1, "for each");
    run->shot.body = bodies[run->value[0] / 2];
    return setup(run);
}

TM_BENCH(loop_empty, .body = tm_loop_empty, .setup = setup);
TM_BENCH(loop_not_taken, .body = tm_loop_not_taken, .setup = setup);
TM_BENCH(loop_alternating, .body = tm_loop_alternating, .expect = TM_INNER_loop_alternating / 2,
         .setup = setup);
TM_BENCH(loop_taken, .body = tm_loop_taken, .setup = setup);
TM_BENCH(loop_align, .setup = setup_align);
TM_APP(loop);
