/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Bodies of the group syscall: the arguments, one ecall, and what the kernel returned left in a0
 * and a1 for the harness to check after the sample.
 */
#include "abi.h"
#include "body.inc"

/* Adds 7 in user mode: 2 for the driver number, 4 li, ecall; and what the kernel retires. */
.macro command_body name, driver, number
body \name
    li      a0, \driver
    li      a1, \number
    li      a2, 0
    li      a3, 0
    li      a4, TOCK_COMMAND
    ecall
    ret
end_body \name
.endm

    command_body tm_syscall_command, TM_PERF, TM_PERF_BOTH
    command_body tm_syscall_command_absent, TM_ABSENT_DRIVER, TM_PERF_BOTH

/* Adds 4 in user mode: mv (a0 points to the byte that tells whether an upcall ran), 2 li, ecall. */
body tm_syscall_yield_no_wait
    mv      a1, a0
    li      a0, TOCK_YIELD_NO_WAIT
    li      a4, TOCK_YIELD
    ecall
    ret
end_body tm_syscall_yield_no_wait

/* Adds 4 in user mode: 3 li, ecall. */
body tm_syscall_memop
    li      a0, TOCK_MEMOP_FLASH_START
    li      a1, 0
    li      a4, TOCK_MEMOP
    ecall
    ret
end_body tm_syscall_memop
