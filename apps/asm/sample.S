/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The sampler: the only code that takes samples. sample_v1.S is the sampler for version 1 of the interface.
 *
 * It reads both counters, calls a body (call_body in sampler.inc), and reads the counters again. So a sample
 * includes the rest of the first read, the call, the body, and the start of the second read. All rows use
 * the same instructions, also time.read, whose body is the `ret` of empty.S. So a row minus time.read is
 * exactly what its body adds, to the instruction.
 */
#include "sampler.inc"
#if TM_ABI == 2

#ifdef TM_CSR
    .option arch, +zicsr
#endif
    .section .sampler, "ax" /* at the same address in all apps: app.ld */

/* Returns the counters in a1 and a2. */
.macro read_counters
#ifdef TM_CSR
    csrr    a1, TM_CSR_CYCLES
    csrr    a2, TM_CSR_INSTRET
    li      a0, TM_READ_RETURNS
#else
    li      a0, TM_READ_DRIVER
    li      a1, TM_READ_COMMAND
    li      a2, 0
    li      a3, 0
    li      a4, TOCK_COMMAND
    ecall
#endif
.endm

/* void tm_sample(struct tm_shot *shot) */
sampler tm_sample, saved=8
    lw      s1, SHOT_BODY(s0)
    lw      s2, SHOT_ARG(s0)
    read_counters
    mv      s3, a0
    mv      s4, a1
    mv      s5, a2
    call_body s1, s2, s6, s7
    read_counters

    sub     s4, a1, s4
    sub     s5, a2, s5
    sw      s4, SHOT_CYCLES(s0)
    sw      s5, SHOT_INSTRET(s0)
    sw      s3, SHOT_READ_BEFORE(s0)
    sw      a0, SHOT_READ_AFTER(s0)
end_sampler tm_sample, s6, s7

/* void tm_sample_passes(struct tm_shot *shot): calls the body shot->passes times */
sampler tm_sample_passes, saved=8
    lw      s1, SHOT_BODY(s0)
    lw      s2, SHOT_ARG(s0)
    lw      s3, SHOT_PASSES(s0)
    read_counters
    sw      a0, SHOT_READ_BEFORE(s0)
    mv      s4, a1
    mv      s5, a2
    call_body_often s1, s2, s3, s6, s7
    read_counters

    sub     s4, a1, s4
    sub     s5, a2, s5
    sw      s4, SHOT_CYCLES(s0)
    sw      s5, SHOT_INSTRET(s0)
    sw      a0, SHOT_READ_AFTER(s0)
end_sampler tm_sample_passes, s6, s7
#endif
