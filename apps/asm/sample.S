/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The sampler: the one place where a measurement is taken. (sample_v1.S is its twin for version 1 of
 * the interface.)
 *
 * It reads both counters, calls a body, and reads them again. All rows go through these very
 * instructions, time.read too, whose body is the bare `ret` of empty.S; so a row less time.read is
 * exactly what its body adds, to the instruction.
 */
#include "abi.h"
#include "shot.h"
#if TM_ABI == 2

    .option norelax
    .section .sampler, "ax" /* where it is the same in all apps: app.ld */

/* Perf command 3: the counters come back in a1 and a2. */
.macro read_counters
    li      a0, TM_PERF
    li      a1, TM_PERF_BOTH
    li      a2, 0
    li      a3, 0
    li      a4, TOCK_COMMAND
    ecall
.endm

/* void tm_sample(struct tm_shot *shot) */
    .balign 8
    .globl  tm_sample
    .type   tm_sample, @function
tm_sample:
    addi    sp, sp, -48
    sw      ra, 44(sp)
    sw      s0, 40(sp)
    sw      s1, 36(sp)
    sw      s2, 32(sp)
    sw      s3, 28(sp)
    sw      s4, 24(sp)
    sw      s5, 20(sp)
    sw      s6, 16(sp)
    sw      s7, 12(sp)
    mv      s0, a0
    lw      s1, SHOT_BODY(s0)
    lw      s2, SHOT_ARG(s0)

    read_counters
    mv      s3, a0
    mv      s4, a1
    mv      s5, a2

    /* The return address is in t0 as well as in ra: a body that calls need not save it. */
    mv      a0, s2
    lla     t0, 1f
    .balign 8
    jalr    ra, 0(s1)
1:
    /* What the body returned is kept here, so that checking it costs no row anything. */
    mv      s6, a0
    mv      s7, a1
    read_counters

    sub     s4, a1, s4
    sub     s5, a2, s5
    sw      s4, SHOT_CYCLES(s0)
    sw      s5, SHOT_INSTRET(s0)
    sw      s3, SHOT_READ_BEFORE(s0)
    sw      a0, SHOT_READ_AFTER(s0)
    sw      s6, SHOT_RESULT(s0)
    sw      s7, SHOT_RESULT + 4(s0)
    lw      ra, 44(sp)
    lw      s0, 40(sp)
    lw      s1, 36(sp)
    lw      s2, 32(sp)
    lw      s3, 28(sp)
    lw      s4, 24(sp)
    lw      s5, 20(sp)
    lw      s6, 16(sp)
    lw      s7, 12(sp)
    addi    sp, sp, 48
    ret
    .size   tm_sample, . - tm_sample
#endif
