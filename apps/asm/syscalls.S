/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Bodies of the group syscall: the arguments, one or two ecalls, and the kernel's result left in a0 and a1,
 * which the harness checks after the sample. (Not built with LIBTOCK_C=DIR: see runtime/libtock_bodies.c.)
 */
#include "counter.h"
#include "body.inc"
#ifndef TM_LIBTOCK_C

/* Adds 7 in user mode: 2 for the driver number, 4 li, ecall; plus what the kernel retires. */
.macro command_body name, driver, number
body \name
    li      ARG0, \driver
    li      ARG1, \number
    li      ARG2, 0
    li      ARG3, 0
    li      CLASS, TOCK_COMMAND
    ecall
    ret
end_body \name
.endm

/* The command that also reads the counters; in version 1, the one that reads cycles. */
#if TM_ABI == 1
    command_body tm_syscall_command, TM_PERF, TM_PERF_CYCLES
    command_body tm_syscall_command_absent, TM_ABSENT_DRIVER, TM_PERF_CYCLES
#else
    command_body tm_syscall_command, TM_READ_DRIVER, TM_READ_COMMAND
    command_body tm_syscall_command_absent, TM_ABSENT_DRIVER, TM_READ_COMMAND
#endif

/* Adds 4 in user mode: 3 li, ecall. */
body tm_syscall_memop
    li      ARG0, TOCK_MEMOP_FLASH_START
    li      ARG1, 0
    li      CLASS, TOCK_MEMOP
    ecall
    ret
end_body tm_syscall_memop

/* Moves the break up by 8 bytes. Adds 4 in user mode: 3 li, ecall. */
body tm_syscall_sbrk
    li      ARG0, TOCK_MEMOP_SBRK
    li      ARG1, 8
    li      CLASS, TOCK_MEMOP
    ecall
    ret
end_body tm_syscall_sbrk

/* Moves the break to the address in a0. Adds 4 in user mode: mv, 2 li, ecall. */
body tm_syscall_brk
    mv      ARG1, a0
    li      ARG0, TOCK_MEMOP_BRK
    li      CLASS, TOCK_MEMOP
    ecall
    ret
end_body tm_syscall_brk

/*
 * Subscribes the function in a0 to the console's upcall, and then none. Adds 12 in user mode, 6 per call: 5
 * li (one of them is the mv of the function), ecall.
 */
body tm_syscall_subscribe
    mv      ARG2, a0
    li      ARG0, TOCK_CONSOLE
    li      ARG1, TOCK_CONSOLE_WRITE
    li      ARG3, 0
    li      CLASS, TOCK_SUBSCRIBE
    ecall
    li      ARG0, TOCK_CONSOLE
    li      ARG1, TOCK_CONSOLE_WRITE
    li      ARG2, 0
    li      ARG3, 0
    li      CLASS, TOCK_SUBSCRIBE
    ecall
    ret
end_body tm_syscall_subscribe

/*
 * Allows the console a buffer, whose address and length are at a0, and then none. Adds 12 in user mode, 6
 * per call: 5 li (two of them are the lw of the buffer), ecall.
 */
.macro allow_body name, class
body \name
    lw      ARG2, 0(a0)
    lw      ARG3, 4(a0)
    li      ARG0, TOCK_CONSOLE
    li      ARG1, TOCK_CONSOLE_WRITE
    li      CLASS, \class
    ecall
    li      ARG0, TOCK_CONSOLE
    li      ARG1, TOCK_CONSOLE_WRITE
    li      ARG2, 0
    li      ARG3, 0
    li      CLASS, \class
    ecall
    ret
end_body \name
.endm

#if TM_ABI == 1
    allow_body tm_syscall_allow_rw, TOCK_ALLOW
#else
    allow_body tm_syscall_allow_rw, TOCK_ALLOW_RW
    allow_body tm_syscall_allow_ro, TOCK_ALLOW_RO

/* Adds 4 in user mode: mv (a0 points to the byte that reports whether an upcall ran), 2 li, ecall. */
body tm_syscall_yield_no_wait
    mv      a1, a0
    li      a0, TOCK_YIELD_NO_WAIT
    li      a4, TOCK_YIELD
    ecall
    ret
end_body tm_syscall_yield_no_wait
#endif
#endif
