/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The sampler and the measured bodies, for C. A body takes its argument in a0 and returns a word
 * there from which one can see that it did its work; the .S file of its group says what it retires.
 */
#ifndef TM_ASM_BODIES_H
#define TM_ASM_BODIES_H

#include <stdint.h>

#include "abi.h"
#include "counts.h"

typedef uint32_t tm_body(void *arg);

/* One measurement: what to call, and what came of it. The samplers know these offsets. */
struct tm_shot {
    tm_body *body;
    void *arg;
#if TM_ABI == 1
    uint32_t counter; /* which one to read: TM_PERF_CYCLES or TM_PERF_INSTRET */
    uint32_t cycles;  /* what that one counted between the two readings */
#else
    uint32_t cycles;      /* between the two readings */
    uint32_t instret;     /* likewise */
    uint32_t read_before; /* what the readings themselves returned: TOCK_SUCCESS_U32_U32 */
    uint32_t read_after;
#endif
    uint32_t result[2]; /* a0 and a1 as the body left them */
};

void tm_sample(struct tm_shot *shot);

/* How often each of Ibex's events occurred (version 2 only). */
#define TM_EVENTS (TM_EVENT_LAST - TM_EVENT_FIRST + 1)
void tm_sample_events(struct tm_shot *shot, uint32_t counts[TM_EVENTS]);

tm_body tm_body_empty;

tm_body tm_loop_empty, tm_loop_at_2, tm_loop_at_4, tm_loop_at_6;
tm_body tm_loop_not_taken, tm_loop_taken, tm_loop_alternating;

tm_body tm_procedure_return;
tm_body tm_call_void, tm_call_return, tm_call_indirect;
tm_body tm_call_args_1, tm_call_args_2, tm_call_args_3, tm_call_args_4, tm_call_args_5;
tm_body tm_call_args_6, tm_call_args_7, tm_call_args_8, tm_call_args_9, tm_call_args_10;

/* What copying, reading and writing go over: whole multiples of 8 words. */
struct tm_span {
    uint32_t *to;
    uint32_t *from;
    uint32_t *from_end;
};

tm_body tm_list_walk, tm_copy_words, tm_copy_8_words, tm_read_words, tm_write_words;
tm_body tm_read_bytes, tm_write_bytes, tm_read_straddling;

extern const uint32_t tm_flash_table[TM_FLASH_WORDS];
extern const uint32_t tm_flash_within[], tm_flash_next[], tm_flash_far[];
tm_body tm_flash_read_seq, tm_flash_read_sporadic, tm_flash_chain;

/* Code, not procedures: one begins so many bytes before them. */
tm_body tm_nops_2_end, tm_nops_4_end;

struct tm_allow {
    void *address;
    uint32_t length;
};

tm_body tm_syscall_command, tm_syscall_command_absent;
tm_body tm_syscall_memop, tm_syscall_sbrk, tm_syscall_brk;
tm_body tm_syscall_subscribe, tm_syscall_allow_rw;

/* What a console write is of; `upcalls` counts its completions. */
struct tm_write {
    uint32_t upcalls;
    uint32_t length;
};

tm_body tm_upcall_yield_wait, tm_console_write_and_wait;
void tm_upcall_count(uint32_t first, uint32_t second, uint32_t third, void *count);

/* Version 2 only. */
tm_body tm_syscall_allow_ro, tm_syscall_yield_no_wait, tm_upcall_yield_wait_for;

#endif
