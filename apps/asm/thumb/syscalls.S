/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Bodies of the group syscall in Thumb: the arguments, one or two svc, and the kernel's result left in r0 and
 * r1. The class of a call is part of the instruction, so it need not be loaded.
 */
#include "counter.h"
#include "body.inc"

/* Adds 6 in user mode: 2 for the driver number, 3 movs, svc. */
.macro command_body name, driver
body \name
    load    r0, \driver
    movs    r1, #TM_READ_COMMAND
    movs    r2, #0
    movs    r3, #0
    svc     TOCK_COMMAND
    bx      lr
end_body \name
.endm

    command_body tm_syscall_command, TM_READ_DRIVER
    command_body tm_syscall_command_absent, TM_ABSENT_DRIVER

/* Adds 3 in user mode: 2 movs, svc. */
.macro memop_body name, operation, argument
body \name
    movs    r0, #\operation
    movs    r1, #\argument
    svc     TOCK_MEMOP
    bx      lr
end_body \name
.endm

    memop_body tm_syscall_memop, TOCK_MEMOP_FLASH_START, 0
    memop_body tm_syscall_sbrk, TOCK_MEMOP_SBRK, 8

/* Moves the break to the address in r0. Adds 3 in user mode: mov, movs, svc. */
body tm_syscall_brk
    mov     r1, r0
    movs    r0, #TOCK_MEMOP_BRK
    svc     TOCK_MEMOP
    bx      lr
end_body tm_syscall_brk

/* Subscribes the function in r0 to the console's upcall, and then none. Adds 10 in user mode, 5 per call:
 * mov or movs, 3 movs, svc. */
body tm_syscall_subscribe
    mov     r2, r0
    movs    r0, #TOCK_CONSOLE
    movs    r1, #TOCK_CONSOLE_WRITE
    movs    r3, #0
    svc     TOCK_SUBSCRIBE
    movs    r0, #TOCK_CONSOLE
    movs    r1, #TOCK_CONSOLE_WRITE
    movs    r2, #0
    movs    r3, #0
    svc     TOCK_SUBSCRIBE
    bx      lr
end_body tm_syscall_subscribe

/* Allows the console a buffer, whose address and length are at r0, and then none. Adds 10 in user mode, 5
 * per call: 2 ldr or movs, 2 movs, svc. */
.macro allow_body name, class
body \name
    ldr     r2, [r0]
    ldr     r3, [r0, #4]
    movs    r0, #TOCK_CONSOLE
    movs    r1, #TOCK_CONSOLE_WRITE
    svc     \class
    movs    r0, #TOCK_CONSOLE
    movs    r1, #TOCK_CONSOLE_WRITE
    movs    r2, #0
    movs    r3, #0
    svc     \class
    bx      lr
end_body \name
.endm

    allow_body tm_syscall_allow_rw, TOCK_ALLOW_RW
    allow_body tm_syscall_allow_ro, TOCK_ALLOW_RO

/* Adds 3 in user mode: mov (r0 points to the byte that reports whether an upcall ran), movs, svc. */
body tm_syscall_yield_no_wait
    mov     r1, r0
    movs    r0, #TOCK_YIELD_NO_WAIT
    svc     TOCK_YIELD
    bx      lr
end_body tm_syscall_yield_no_wait
