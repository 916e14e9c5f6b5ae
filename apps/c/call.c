/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The app call: the cost of procedure calls. The bodies are in asm/calls.S, except the one that the
 * compiler makes. */
#include "bench.h"

enum { RETURNED = 42 };

/* The body loads the pointer from RAM, as a caller does that keeps one in a structure. */
static bool setup_indirect(struct tm_run *run) {
    static tm_body *pointer = tm_procedure_return;
    run->shot.arg = &pointer;
    return true;
}

/* The arguments are 1 to n; the body returns their sum. */
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

/* Like a trait object in Rust: data, and the table of its functions. */
struct object {
    const struct calls *calls;
    uint32_t word;
};

struct calls {
    uint32_t (*word)(const struct object *self);
};

static uint32_t word_of(const struct object *self) { return self->word; }

static bool setup_object(struct tm_run *run) {
    static const struct calls calls = {word_of};
    static struct object object;
    object = (struct object){&calls, RETURNED};
    run->shot.arg = &object;
    run->expect = RETURNED * TM_INNER_call_object;
    return true;
}

static uint32_t call_object(void *arg) {
    const struct object *object = arg;
    uint32_t sum = 0;
    for (uint32_t i = 0; i < TM_INNER_call_object; i++)
        sum += object->calls->word(object);
    return sum;
}

TM_BENCH(call_void, .body = tm_call_void);
TM_BENCH(call_return, .body = tm_call_return, .expect = RETURNED);
TM_BENCH(call_args, .setup = setup_args);
TM_BENCH(call_indirect, .body = tm_call_indirect, .expect = RETURNED, .setup = setup_indirect);
TM_BENCH(call_object, .body = call_object, .setup = setup_object);
TM_APP(call);
