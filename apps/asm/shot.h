/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * struct tm_shot, one measurement: the body to call, and the results. Its fields for C, and their
 * offsets for the samplers.
 */
#ifndef TM_ASM_SHOT_H
#define TM_ASM_SHOT_H

#define SHOT_BODY 0
#define SHOT_ARG 4
#if TM_ABI == 1
#define SHOT_COUNTER 8
#define SHOT_CYCLES 12
#define SHOT_RESULT 16
#define SHOT_PASSES 24
#else
#define SHOT_CYCLES 8
#define SHOT_INSTRET 12
#define SHOT_READ_BEFORE 16
#define SHOT_READ_AFTER 20
#define SHOT_RESULT 24
#define SHOT_PASSES 32
#endif

#ifndef __ASSEMBLER__
#include <stddef.h>
#include <stdint.h>

/* A measured body takes its argument in a0. It returns a word there that proves that it did its
 * work. */
typedef uint32_t tm_body(void *arg);

struct tm_shot {
    tm_body *body;
    void *arg;
#if TM_ABI == 1
    uint32_t counter; /* the counter to read: TM_PERF_CYCLES or TM_PERF_INSTRET */
    uint32_t cycles;  /* the difference between its two reads */
#else
    uint32_t cycles;      /* between the two counter reads */
    uint32_t instret;     /* between the two counter reads */
    uint32_t read_before; /* the results of the counter reads: TOCK_SUCCESS_U32_U32 */
    uint32_t read_after;
#endif
    uint32_t result[2]; /* a0 and a1 after the body */
    uint32_t passes;    /* how often tm_sample_passes() calls the body */
};

#define TM_SHOT_HAS(field, offset)                                                                 \
    _Static_assert(offsetof(struct tm_shot, field) == (offset), "the samplers' offset of " #field)
TM_SHOT_HAS(body, SHOT_BODY);
TM_SHOT_HAS(arg, SHOT_ARG);
TM_SHOT_HAS(cycles, SHOT_CYCLES);
TM_SHOT_HAS(result, SHOT_RESULT);
TM_SHOT_HAS(passes, SHOT_PASSES);
#if TM_ABI == 1
TM_SHOT_HAS(counter, SHOT_COUNTER);
#else
TM_SHOT_HAS(instret, SHOT_INSTRET);
TM_SHOT_HAS(read_before, SHOT_READ_BEFORE);
TM_SHOT_HAS(read_after, SHOT_READ_AFTER);
#endif
#endif

#endif
