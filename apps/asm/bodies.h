/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The sampler and the measured bodies, for C. A body takes its argument in a0 and returns a word
 * there from which one can see that it did its work; the .S file of its group says what it retires.
 */
#ifndef TM_ASM_BODIES_H
#define TM_ASM_BODIES_H

#include <stdint.h>

#include "abi.h"

typedef uint32_t tm_body(void *arg);

#include "rows.h"

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

/* What copying, reading and writing go over: whole multiples of 8 words. */
struct tm_span {
    uint32_t *to;
    uint32_t *from;
    uint32_t *from_end;
};

extern const uint32_t tm_flash_table[TM_INNER_flash_read_seq];
extern const uint32_t tm_flash_within[], tm_flash_next[], tm_flash_far[];

struct tm_allow {
    void *address;
    uint32_t length;
};

/* What a console write is of; `upcalls` counts its completions. */
struct tm_write {
    uint32_t upcalls;
    uint32_t length;
};

void tm_upcall_count(uint32_t first, uint32_t second, uint32_t third, void *count);

#endif
