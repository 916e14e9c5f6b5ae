/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The first and last instructions of an app. (thumb/crt0.S is its twin for Cortex-M.)
 *
 * The kernel enters with a0 = start of the app's flash, a1 = start of its RAM, a2 = length of its RAM, a3 =
 * the break. RAM above the break does not belong to the app yet, so nothing, not even the stack, is used
 * before the break is set.
 */
#include "abi.h"
#include "memory.inc"

    .option norelax
    .section .start, "ax"
    .globl  _start
    .type   _start, @function
_start:
    la      gp, __global_pointer$
    la      s0, _app_end
    bgeu    a3, s0, 1f
#if TM_ABI == 1
    li      a0, TOCK_MEMOP
    li      a1, TOCK_MEMOP_BRK
    mv      a2, s0
    ecall
    li      t0, 0
#else
    li      a0, TOCK_MEMOP_BRK
    mv      a1, s0
    li      a4, TOCK_MEMOP
    ecall
    li      t0, TOCK_SUCCESS
#endif
    bne     a0, t0, no_memory

1:  la      sp, _stack_top
    prepare_memory

    call    main
    mv      a1, a0              /* main's result is the completion code */
    j       terminate

no_memory:                      /* the error of brk is the completion code; there is no stack */
terminate:
#if TM_ABI == 1
    li      a0, TOCK_YIELD      /* there is no exit: wait for ever */
#else
    li      a0, TOCK_EXIT_TERMINATE
    li      a4, TOCK_EXIT
#endif
    ecall
    j       terminate
    .size   _start, . - _start

#include "link.inc"
