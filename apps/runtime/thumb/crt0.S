/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The first and last instructions of an app in Thumb, like ../crt0.S for RISC-V.
 *
 * The kernel enters with r0 = start of the app's flash, r1 = start of its RAM, r2 = length of its RAM, r3 =
 * the break. The stack has room for one exception, which a system call takes; the app uses no other stack
 * before the break is set.
 */
#include "abi.h"
    .syntax unified
    .thumb

    .section .start, "ax"
    .globl  _start
    .type   _start, %function
    .thumb_func
_start:
    ldr     r4, =_app_end
    cmp     r3, r4
    bhs     1f
    movs    r0, #TOCK_MEMOP_BRK
    mov     r1, r4
    svc     TOCK_MEMOP
    cmp     r0, #TOCK_SUCCESS
    bne     terminate               /* the error of brk is the completion code */

1:  ldr     r0, =_stack_top
    mov     sp, r0
    ldr     r0, =_data_load         /* copy initial data from flash, clear the rest */
    ldr     r1, =_data_start
    ldr     r2, =_data_end
    b       3f
2:  ldr     r3, [r0], #4
    str     r3, [r1], #4
3:  cmp     r1, r2
    blo     2b
    ldr     r1, =_bss_start
    ldr     r2, =_bss_end
    movs    r3, #0
    b       5f
4:  str     r3, [r1], #4
5:  cmp     r1, r2
    blo     4b

    bl      main
    mov     r1, r0                  /* main's result is the completion code */
terminate:
    movs    r0, #TOCK_EXIT_TERMINATE
    svc     TOCK_EXIT
    b       terminate
    .ltorg
    .size   _start, . - _start

#include "../link.inc"
