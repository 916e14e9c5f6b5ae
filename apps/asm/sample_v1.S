/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The sampler for version 1 of the interface: the only code that takes measurements.
 *
 * In version 1 a call returns one word, so a sample reads one counter, calls the body, and reads that
 * counter again. The caller chooses the counter: the harness makes one pass over all samples per counter.
 * The rest is as in sample.S.
 */
#include "sampler.inc"
#if TM_ABI == 1

    .section .sampler, "ax" /* at the same address in all apps: app.ld */

/* Perf command s3: returns the counter in a0, even if that makes it negative. */
.macro read_counter
    li      a0, TOCK_COMMAND
    li      a1, TM_PERF
    mv      a2, s3
    li      a3, 0
    li      a4, 0
    ecall
.endm

/* void tm_sample(struct tm_shot *shot) */
sampler tm_sample, saved=7
    lw      s1, SHOT_BODY(s0)
    lw      s2, SHOT_ARG(s0)
    lw      s3, SHOT_COUNTER(s0)
    read_counter
    mv      s4, a0
    call_body s1, s2, s5, s6
    read_counter

    sub     s4, a0, s4
    sw      s4, SHOT_CYCLES(s0)
end_sampler tm_sample, s5, s6

/* void tm_sample_passes(struct tm_shot *shot): calls the body shot->passes times */
sampler tm_sample_passes, saved=8
    lw      s1, SHOT_BODY(s0)
    lw      s2, SHOT_ARG(s0)
    lw      s3, SHOT_COUNTER(s0)
    lw      s7, SHOT_PASSES(s0)
    read_counter
    mv      s4, a0
    call_body_often s1, s2, s7, s5, s6
    read_counter

    sub     s4, a0, s4
    sw      s4, SHOT_CYCLES(s0)
end_sampler tm_sample_passes, s5, s6
#endif
