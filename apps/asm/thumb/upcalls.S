/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Bodies of the groups upcall and console in Thumb: a command, and the wait for the upcall that it
 * brings. An upcall runs as a procedure inside the yield, so the return address is kept on the stack.
 */
#include "counter.h"
#include "body.inc"

/* The upcall itself: adds one to the word that its userdata points to. */
body tm_upcall_count
    ldr     r0, [r3]
    adds    r0, r0, #1
    str     r0, [r3]
    bx      lr
end_body tm_upcall_count

/* Makes a command with the arguments in r2 and r3, and returns what was counted where r4 points once
 * an upcall has run. */
.macro command_and_wait driver, number
    load    r0, \driver
    movs    r1, #\number
    svc     TOCK_COMMAND
    movs    r0, #TOCK_YIELD_WAIT
    svc     TOCK_YIELD
    ldr     r0, [r4]
    pop     {r4, pc}
.endm

/* Perf command 8, then yield-wait; r0 points to the word that the upcall counts in. Adds 17 in user
 * mode, 4 of them the upcall's. */
body tm_upcall_yield_wait
    push    {r4, lr}
    mov     r4, r0
    movs    r2, #0
    movs    r3, #0
    str     r2, [r4]
    command_and_wait TM_PERF, TM_PERF_UPCALL
end_body tm_upcall_yield_wait

/* A console write of as many bytes as struct tm_write at r0 says, then yield-wait. */
body tm_console_write_and_wait
    push    {r4, lr}
    mov     r4, r0
    movs    r3, #0
    str     r3, [r4]
    ldr     r2, [r4, #4]
    command_and_wait TOCK_CONSOLE, TOCK_CONSOLE_WRITE
end_body tm_console_write_and_wait

/* Perf command 8 with the argument 42, then yield-wait-for: nothing runs, the upcall's arguments come
 * back. Adds 12 in user mode. Returns the third one, 42. */
body tm_upcall_yield_wait_for
    load    r0, TM_PERF
    movs    r1, #TM_PERF_UPCALL
    movs    r2, #42
    movs    r3, #0
    svc     TOCK_COMMAND
    movs    r0, #TOCK_YIELD_WAIT_FOR
    load    r1, TM_PERF
    movs    r2, #0
    svc     TOCK_YIELD
    mov     r0, r2
    bx      lr
end_body tm_upcall_yield_wait_for
