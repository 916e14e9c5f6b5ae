/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Bodies of the groups upcall and console: a command, and the wait for the upcall that it brings. An
 * upcall runs as a procedure inside the yield, so the return address is kept on the stack.
 */
#include "abi.h"
#include "body.inc"

/* The upcall itself: adds one to the word that its userdata points to. 4 with the ret. */
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
 * Perf command 8, then yield-wait; a0 points to the word that the upcall counts in, and comes back as
 * that word. Adds 22 in user mode, 21 on version 1: addi, 2 sw, sw of 0; 7 for the command; 2 li,
 * ecall (version 1: li, ecall); 4 of the upcall; 3 lw, addi.
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
 * A console write of as many bytes as a1 says at a0 (struct tm_write), then yield-wait; returns what
 * the upcall counted. Adds as the one above does, and 2 lw in place of 2 li; 1 less for the driver
 * number, which takes one li.
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
 * Perf command 8 with the argument 42, then yield-wait-for: nothing runs, the upcall's arguments come
 * back. Adds 13 in user mode: 7 for the command, 5 for the wait, mv. Returns the third one, 42.
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
