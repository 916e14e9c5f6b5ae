/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The first instructions of an app that plays a role in a scene.
 *
 * An app that faults or restarts begins here again, with its variables reset from flash. Data that must
 * survive is in `kept` (report.h), right after the variables: nothing clears it.
 */
#include "memory.inc"

#define KEPT 128 /* bytes */

    .option norelax
    .globl  tm_heap
    .set    tm_heap, 0x1000     # requested at run time, with the break

    .section .start, "ax"
    .globl  _start
    .type   _start, @function
_start:
    la      gp, __global_pointer$
    mv      s0, a0              # the kernel's arguments: flash and RAM
    mv      s1, a1
    mv      s2, a2
    mv      s3, a3
    la      t0, _app_end + KEPT
#if TM_ABI == 1
    li      a0, 4               # memop 0: the break
    li      a1, 0
    mv      a2, t0
    ecall
#else
    li      a0, 0
    mv      a1, t0
    li      a4, 5
    ecall
    addi    a0, a0, -128        # success?
#endif
1:  bnez    a0, 1b              # no memory, and no way to report it

    la      sp, _stack_top
    la      t0, _app_end
    sw      s0, 0(t0)
    sw      s1, 4(t0)
    sw      s2, 8(t0)
    sw      s3, 12(t0)

    prepare_memory

    call    main
    j       finish
    .size   _start, . - _start

    .section .rodata
    .balign 4
    .globl  app_slot, app_scene, app_calls, app_step, app_milliseconds
    .weak   cf_calls, cf_step, cf_milliseconds
app_slot:
    .word   tm_slot
app_scene:
    .word   tm_scene
app_calls:
    .word   cf_calls
app_step:
    .word   cf_step
app_milliseconds:
    .word   cf_milliseconds
