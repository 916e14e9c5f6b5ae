/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The app call: what procedure calls cost. The bodies are in asm/calls.S. */
#include "bench.h"

enum { RETURNED = 42 };

/* The body loads the pointer from RAM, as a caller does that keeps one in a structure. */
static bool setup_indirect(struct tm_run *run) {
    static tm_body *pointer = tm_procedure_return;
    run->shot.arg = &pointer;
    return true;
}

/* The arguments are 1 to n, and their sum comes back. */
static bool setup_args(struct tm_run *run) {
    static tm_body *const bodies[] = {
        tm_call_args_1, tm_call_args_2, tm_call_args_3, tm_call_args_4, tm_call_args_5,
        tm_call_args_6, tm_call_args_7, tm_call_args_8, tm_call_args_9, tm_call_args_10,
    };
    uint32_t n = run->value[0];
    run->shot.body = bodies[n - 1];
    run->expect = n * (n + 1) / 2;
    return true;
}

static const struct tm_bench benches[] = {
    {
        .id = "call.void",
        .samples = 1000,
        .inner = TM_CALLS,
        .body = tm_call_void,
    },
    {
        .id = "call.return",
        .samples = 1000,
        .inner = TM_CALLS,
        .body = tm_call_return,
        .expect = RETURNED,
    },
    {
        .id = "call.args",
        .samples = 1000,
        .inner = TM_CALLS,
        .params = {TM_PARAM("n", 1, 2, 3, 4, 5, 6, 7, 8, 9, 10)},
        .setup = setup_args,
    },
    {
        .id = "call.indirect",
        .samples = 1000,
        .inner = TM_CALLS,
        .body = tm_call_indirect,
        .expect = RETURNED,
        .setup = setup_indirect,
    },
};

const struct tm_app tm_app = {.name = "call", TM_BENCHES(benches)};
