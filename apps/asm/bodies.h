/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The sampler and the measured bodies, for C. A body takes its argument in a0 and returns a word
 * there from which one can see that it did its work; the .S file of its group says what it retires.
 */
#ifndef TM_ASM_BODIES_H
#define TM_ASM_BODIES_H

#include <stdint.h>

typedef uint32_t tm_body(void *arg);

/* One measurement: what to call, and what came of it. sample.S knows these offsets. */
struct tm_shot {
    tm_body *body;
    void *arg;
    uint32_t cycles;      /* between the two readings */
    uint32_t instret;     /* likewise */
    uint32_t read_before; /* what the readings themselves returned: TOCK_SUCCESS_U32_U32 */
    uint32_t read_after;
    uint32_t result[2]; /* a0 and a1 as the body left them */
};

void tm_sample(struct tm_shot *shot);

tm_body tm_body_empty;

tm_body tm_loop_empty, tm_loop_at_2, tm_loop_at_4, tm_loop_at_6;
tm_body tm_loop_not_taken, tm_loop_taken, tm_loop_alternating;

tm_body tm_procedure_return;
tm_body tm_call_void, tm_call_return, tm_call_indirect;
tm_body tm_call_args_1, tm_call_args_2, tm_call_args_3, tm_call_args_4, tm_call_args_5;
tm_body tm_call_args_6, tm_call_args_7, tm_call_args_8, tm_call_args_9, tm_call_args_10;

/* What tm_copy_words moves: a multiple of 8 words. */
struct tm_copy {
    uint32_t *to;
    const uint32_t *from;
    const uint32_t *from_end;
};

tm_body tm_list_walk, tm_copy_words;

tm_body tm_syscall_command, tm_syscall_command_absent;
tm_body tm_syscall_yield_no_wait, tm_syscall_memop;

#endif
