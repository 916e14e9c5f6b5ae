/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The sampler in Thumb, for version 2 of the interface: like ../sample.S for RISC-V, with CycleCount. All
 * rows use these same instructions, including time.read, whose body is the bare return below.
 */
#include "counter.h"
#include "body.inc"
#include "rows.h"
#include "shot.h"

#if TM_ABI != 2 || !defined(TM_CYCLECOUNT)
#error "apps for Cortex-M are for version 2, and read CycleCount"
#endif

    .section .sampler, "ax" /* at the same address in all apps: app.ld */

/* Returns the counter in r1 and r2. */
.macro read_counters
    load    r0, TM_READ_DRIVER
    movs    r1, #TM_READ_COMMAND
    movs    r2, #0
    movs    r3, #0
    svc     TOCK_COMMAND
.endm

/* r4 is the shot, r5 the body, r6 its argument. */
.macro sampler name
body \name
    push    {r3-r11, lr} /* r3 for an even number of words */
    mov     r4, r0
    ldr     r5, [r4, #SHOT_BODY]
    ldr     r6, [r4, #SHOT_ARG]
.endm

.macro end_sampler name
    pop     {r3-r11, pc}
    end_body \name
.endm

/* Stores the count since the read in r8 and r9, and the two words in r10 and r11 that the body returned:
 * checking them later adds nothing to any row. */
.macro keep
    subs    r1, r1, r8
    subs    r2, r2, r9
    str     r1, [r4, #SHOT_CYCLES]
    str     r2, [r4, #SHOT_INSTRET]
    str     r7, [r4, #SHOT_READ_BEFORE]
    str     r0, [r4, #SHOT_READ_AFTER]
    str     r10, [r4, #SHOT_RESULT]
    str     r11, [r4, #SHOT_RESULT + 4]
.endm

/* void tm_sample(struct tm_shot *shot) */
sampler tm_sample
    read_counters
    mov     r7, r0
    mov     r8, r1
    mov     r9, r2
    mov     r0, r6
    .balign 8
    blx     r5
    mov     r10, r0
    mov     r11, r1
    read_counters
    keep
end_sampler tm_sample

/* void tm_sample_passes(struct tm_shot *shot): calls the body shot->passes times */
sampler tm_sample_passes
    read_counters
    mov     r7, r0
    mov     r8, r1
    mov     r9, r2
    ldr     r11, [r4, #SHOT_PASSES]
    .balign 8
1:  mov     r0, r6
    blx     r5
    subs    r11, r11, #1
    bne     1b
    mov     r10, r0
    mov     r11, r1
    read_counters
    keep
end_sampler tm_sample_passes

/* The body of time.read: nothing. It returns its argument unchanged. */
    .section .sampler.body, "ax" /* after the sampler: app.ld */
body tm_body_empty
    bx      lr
end_body tm_body_empty

/* The bodies that this folder lacks, and their tables: rows.h skips their rows, so nothing uses these
 * symbols. */
#ifdef TM_ABSENT
    .irp    name, TM_ABSENT, tm_flash_table, tm_flash_within, tm_flash_next, tm_flash_far, \
                  tm_flash_table_end, tm_flash_chains_end, tm_nops_2, tm_nops_4
    .globl  \name
    .thumb_set \name, tm_body_empty
    .endr
#endif
