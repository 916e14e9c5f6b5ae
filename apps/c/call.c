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
    _Static_assert(sizeof bodies / sizeof *bodies == TM_MAX_call_args_n, "one for each n");
    uint32_t n = run->value[0];
    run->shot.body = bodies[n - 1];
    run->expect = n * (n + 1) / 2;
    return true;
}

TM_BENCH(call_void, .body = tm_call_void);
TM_BENCH(call_return, .body = tm_call_return, .expect = RETURNED);
TM_BENCH(call_args, .setup = setup_args);
TM_BENCH(call_indirect, .body = tm_call_indirect, .expect = RETURNED, .setup = setup_indirect);
TM_APP(call);
