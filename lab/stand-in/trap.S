# SPDX-License-Identifier: Apache-2.0 OR MIT
#
# The vector table, the path to Rust after a reset, and the path into the kernel and back. All exceptions
# have the same priority, so they do not nest.

    .section .text.start, "ax"
    .word   _stack_top
    .word   _start
    .rept   14 + 10                 @ the core's, and interrupts 0 to 9
    .word   trap
    .endr

    .global _start
    .thumb_func
_start:
    cpsid   i
    ldr     r0, =_load_data         @ initialised data: from flash to RAM
    ldr     r1, =_sdata
    ldr     r2, =_edata
1:  cmp     r1, r2
    bhs     2f
    ldr     r3, [r0], #4
    str     r3, [r1], #4
    b       1b
2:  ldr     r1, =_sbss              @ the rest starts as zero
    ldr     r2, =_ebss
    movs    r3, #0
3:  cmp     r1, r2
    bhs     4f
    str     r3, [r1], #4
    b       3b
4:  bl      kernel_main
    cpsie   i
    svc     0                       @ enters the first process

    .section .text.trap, "ax"
    .thumb_func
trap:                               @ the core has saved r0 to r3, r12, lr, pc and xpsr
    mrs     r0, psp
    mrs     r2, ipsr
    mov     r3, lr
    push    {{r4-r11}}
    mov     r1, sp
    bl      on_trap                 @ (the process's stack, r4 to r11, which exception, where from)
    pop     {{r4-r11}}
    msr     psp, r0
    movs    r1, #1                  @ thread mode is the processes', and has no privileges
    msr     control, r1
    isb
    mvn     lr, #2                  @ to thread mode, on that stack
    bx      lr
