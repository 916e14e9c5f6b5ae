/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Bodies of the groups upcall and console: a command, and the wait for its upcall. An upcall runs as a
 * procedure inside the yield, so the return address is kept on the stack.
 */
#include "abi.h"
#include "body.inc"

/* The upcall itself: adds one to the word at its userdata. 4 instructions with the ret. */
body tm_upcall_count
    lw      a4, 0(a3)
    addi    a4, a4, 1
    sw      a4, 0(a3)
    ret
end_body tm_upcall_count

#ifndef TM_LIBTOCK_C /* as in syscalls.S */
.macro yield_wait
#if TM_ABI == 2
    li      ARG0, TOCK_YIELD_WAIT
#endif
    li      CLASS, TOCK_YIELD
    ecall
.endm

/*
 * Perf command 8, then yield-wait. The upcall counts in the word at a0; the body returns that word. Adds 22
 * in user mode, 21 in version 1: addi, 2 sw, sw of 0; 7 for the command; 2 li, ecall (version 1: li, ecall);
 * 4 in the upcall; 3 lw, addi.
 */
body tm_upcall_yield_wait
    addi    sp, sp, -16
    sw      ra, 12(sp)
    sw      a0, 8(sp)
    sw      zero, 0(a0)
    li      ARG0, TM_PERF
    li      ARG1, TM_PERF_UPCALL
    li      ARG2, 0
    li      ARG3, 0
    li      CLASS, TOCK_COMMAND
    ecall
    yield_wait
    lw      a0, 8(sp)
    lw      a0, 0(a0)
    lw      ra, 12(sp)
    addi    sp, sp, 16
    ret
end_body tm_upcall_yield_wait

/*
 * Writes a1 bytes at a0 (struct tm_write) to the console, then yield-wait. Returns the upcall's count. Adds
 * as many as the body above, with 2 lw instead of 2 li; 1 less for the driver number, which takes one li.
 */
body tm_console_write_and_wait
    addi    sp, sp, -16
    sw      ra, 12(sp)
    sw      a0, 8(sp)
    sw      zero, 0(a0)
    lw      ARG2, 4(a0)
    li      ARG0, TOCK_CONSOLE
    li      ARG1, TOCK_CONSOLE_WRITE
    li      ARG3, 0
    li      CLASS, TOCK_COMMAND
    ecall
    yield_wait
    lw      a0, 8(sp)
    lw      a0, 0(a0)
    lw      ra, 12(sp)
    addi    sp, sp, 16
    ret
end_body tm_console_write_and_wait

#if TM_ABI == 2
/*
 * Perf command 8 with the argument 42, then yield-wait-for: no function runs, the upcall's arguments are
 * returned. Adds 13 in user mode: 7 for the command, 5 for the wait, mv. Returns the third argument, 42.
 */
body tm_upcall_yield_wait_for
    li      a0, TM_PERF
    li      a1, TM_PERF_UPCALL
    li      a2, 42
    li      a3, 0
    li      a4, TOCK_COMMAND
    ecall
    li      a0, TOCK_YIELD_WAIT_FOR
    li      a1, TM_PERF
    li      a2, 0
    li      a4, TOCK_YIELD
    ecall
    mv      a0, a2
    ret
end_body tm_upcall_yield_wait_for
#endif
#endif
