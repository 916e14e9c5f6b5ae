/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The app loop: what loops and branches cost. The bodies are in asm/loops.S. */
#include "bench.h"

enum { ITERATIONS = 1000 };

/* A body takes the number of its iterations. */
static bool setup(struct tm_run *run) {
    run->shot.arg = (void *)ITERATIONS;
    return true;
}

static bool setup_align(struct tm_run *run) {
    static tm_body *const bodies[] = {tm_loop_empty, tm_loop_at_2, tm_loop_at_4, tm_loop_at_6};
    run->shot.body = bodies[run->value[0] / 2];
    return setup(run);
}

static const struct tm_bench benches[] = {
    {
        .id = "loop.empty",
        .samples = 32,
        .inner = ITERATIONS,
        .body = tm_loop_empty,
        .setup = setup,
    },
    {
        .id = "loop.not_taken",
        .samples = 32,
        .inner = ITERATIONS,
        .body = tm_loop_not_taken,
        .setup = setup,
    },
    {
        .id = "loop.alternating",
        .samples = 32,
        .inner = ITERATIONS,
        .body = tm_loop_alternating,
        .expect = ITERATIONS / 2,
        .setup = setup,
    },
    {
        .id = "loop.taken",
        .samples = 32,
        .inner = ITERATIONS,
        .body = tm_loop_taken,
        .setup = setup,
    },
    {
        .id = "loop.align",
        .samples = 32,
        .inner = ITERATIONS,
        .params = {TM_PARAM("offset", 0, 2, 4, 6)},
        .setup = setup_align,
    },
};

const struct tm_app tm_app = {.name = "loop", TM_BENCHES(benches)};
