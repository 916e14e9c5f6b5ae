/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The sampler for version 1 of the interface: the one place where a measurement is taken.
 *
 * A call returns one word there, so a sample reads one counter, calls the body, and reads that counter
 * again. Which of the two is for the caller to say: the harness makes a pass over all samples for
 * each. Otherwise it is as sample.S.
 */
#include "abi.h"
#include "shot.h"
#if TM_ABI == 1

    .option norelax
    .section .sampler, "ax" /* where it is the same in all apps: app.ld */

/* Perf command s3: the counter comes back in a0, whatever its sign. */
.macro read_counter
    li      a0, TOCK_COMMAND
    li      a1, TM_PERF
    mv      a2, s3
    li      a3, 0
    li      a4, 0
    ecall
.endm

/* void tm_sample(struct tm_shot *shot) */
    .balign 8
    .globl  tm_sample
    .type   tm_sample, @function
tm_sample:
    addi    sp, sp, -32
    sw      ra, 28(sp)
    sw      s0, 24(sp)
    sw      s1, 20(sp)
    sw      s2, 16(sp)
    sw      s3, 12(sp)
    sw      s4, 8(sp)
    sw      s5, 4(sp)
    sw      s6, 0(sp)
    mv      s0, a0
    lw      s1, SHOT_BODY(s0)
    lw      s2, SHOT_ARG(s0)
    lw      s3, SHOT_COUNTER(s0)

    read_counter
    mv      s4, a0

    /* The return address is in t0 as well as in ra: a body that calls need not save it. */
    mv      a0, s2
    lla     t0, 1f
    .balign 8
    jalr    ra, 0(s1)
1:
    /* What the body returned is kept here, so that checking it costs no row anything. */
    mv      s5, a0
    mv      s6, a1
    read_counter

    sub     s4, a0, s4
    sw      s4, SHOT_CYCLES(s0)
    sw      s5, SHOT_RESULT(s0)
    sw      s6, SHOT_RESULT + 4(s0)
    lw      ra, 28(sp)
    lw      s0, 24(sp)
    lw      s1, 20(sp)
    lw      s2, 16(sp)
    lw      s3, 12(sp)
    lw      s4, 8(sp)
    lw      s5, 4(sp)
    lw      s6, 0(sp)
    addi    sp, sp, 32
    ret
    .size   tm_sample, . - tm_sample
#endif
