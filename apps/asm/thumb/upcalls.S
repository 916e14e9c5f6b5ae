/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Bodies of the groups upcall and console in Thumb: a command, and the wait for its upcall. An upcall runs as
 * a procedure inside the yield, so the return address is kept on the stack.
 */
#include "counter.h"
#include "body.inc"

/* The upcall itself: adds one to the word at its userdata. */
body tm_upcall_count
    ldr     r0, [r3]
    adds    r0, r0, #1
    str     r0, [r3]
    bx      lr
end_body tm_upcall_count

/* Makes a command with the arguments in r2 and r3, waits until an upcall has run, and returns the count at
 * r4. */
.macro command_and_wait driver, number
    load    r0, \driver
    movs    r1, #\number
    svc     TOCK_COMMAND
    movs    r0, #TOCK_YIELD_WAIT
    svc     TOCK_YIELD
    ldr     r0, [r4]
    pop     {r4, pc}
.endm

/* Perf command 8, then yield-wait. The upcall counts in the word at r0. Adds 17 in user mode, 4 of them in
 * the upcall. */
body tm_upcall_yield_wait
    push    {r4, lr}
    mov     r4, r0
    movs    r2, #0
    movs    r3, #0
    str     r2, [r4]
    command_and_wait TM_PERF, TM_PERF_UPCALL
end_body tm_upcall_yield_wait

/* Writes to the console as struct tm_write at r0 describes, then yield-wait. */
body tm_console_write_and_wait
    push    {r4, lr}
    mov     r4, r0
    movs    r3, #0
    str     r3, [r4]
    ldr     r2, [r4, #4]
    command_and_wait TOCK_CONSOLE, TOCK_CONSOLE_WRITE
end_body tm_console_write_and_wait

/* Perf command 8 with the argument 42, then yield-wait-for: no function runs, the upcall's arguments are
 * returned. Adds 12 in user mode. Returns the third argument, 42. */
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
