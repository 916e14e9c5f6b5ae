// SPDX-License-Identifier: Apache-2.0 OR MIT
// Measures system calls (README.md): the suite's sampler and bodies in user mode, on a bare kernel of
// paths.inc or kernel.inc. The mailbox gets cycles and instructions in the order of limit.toml: of the
// empty body as measured, and of the others net of it. Each body runs TIMES in a row, and the last run
// counts. A program fits into half of the cache, so no line of it is ever replaced.
//   PATH       the kernel's path: READING, UPCALL, COMPILED (paths.inc) or CALLING (kernel.inc)
//   CLOSES     close the user's memory during the call
//   SWITCHES, ADDRESSES  the kernel with two processes, instead of PATH: see SWITCHING
#define READING 1
#define UPCALL 2
#define COMPILED 3
#define CALLING 4
#include "paths.inc"

.macro SAMPLE body, result, argument=0
    la   a1, \body
    li   a2, \argument
    li   s11, \result
    jal  run
.endm

.text
.globl _start
.org 0x480
_start:
    START
    la   a0, image // the kernel's RAM
    li   a1, RAM
    li   a2, RAM + IMAGE_END
1:  lw   t0, 0(a0)
    sw   t0, 0(a1)
    addi a0, a0, 4
    addi a1, a1, 4
    bltu a1, a2, 1b
    la   t0, kernel
    csrw mtvec, t0
    la   a0, regions
    .irp i, 0, 1, 2, 3
    lw   t0, 4 * \i(a0)
    csrw pmpaddr\i, t0
    .endr
    lw   s10, 16(a0)

    li   s2, 0
    li   s3, 0
    SAMPLE tm_body_empty, 0
    mv   s2, s5
    mv   s3, s7
#ifdef SWITCHES
    SAMPLE there_and_back, 2 // the process that requested the upcall
#else
#if PATH != UPCALL
    SAMPLE tm_syscall_command, TOCK_SUCCESS_U32_U32
#endif
#if PATH == UPCALL || PATH == CALLING
    SAMPLE tm_upcall_yield_wait, 1, COUNT
#endif
#endif
    li   t0, MAILBOX
    sw   zero, 4(t0)
1:  j    1b

// Samples the body a1 with the argument a2, TIMES times; prints the last sample minus the null control. The
// body must return s11.
    .balign 8
run:
    mv   s9, ra
    li   t0, SHOT
    sw   a1, SHOT_BODY(t0)
    sw   a2, SHOT_ARG(t0)
    li   s0, TIMES
again:
    csrw pmpcfg0, s10
    li   t0, STACK - 128 // for the kernel's traps
    csrw mscratch, t0
    li   t0, 0x1800      // to user mode
    csrc mstatus, t0
    la   t0, tm_sample
    csrw mepc, t0
    la   ra, leave
    li   a0, SHOT
    li   sp, USER_END
    mret
    .balign 8
left:                    // from the kernel, by exit
    li   t0, SHOT
    lw   t1, SHOT_RESULT(t0)
    bne  t1, s11, stop
    li   t2, TOCK_SUCCESS_U32_U32
    lw   t1, SHOT_READ_BEFORE(t0)
    bne  t1, t2, stop
    lw   t1, SHOT_READ_AFTER(t0)
    bne  t1, t2, stop
    addi s0, s0, -1
    bnez s0, again
    lw   s5, SHOT_CYCLES(t0)
    lw   s7, SHOT_INSTRET(t0)
    sub  s5, s5, s2
    sub  s7, s7, s3
    li   t0, MAILBOX
    sw   s5, 0(t0)
    sw   s7, 0(t0)
    jr   s9

    .balign 8
exit:                    // in the kernel
    addi t0, a4, -TOCK_EXIT
    beqz t0, left
stop:                    // must not happen
    li   t0, MAILBOX
    li   t1, 2
    sw   t1, 4(t0)
1:  j    1b

faulted:
    j    stop

#ifdef SWITCHES
    SWITCHING ADDRESSES
#elif PATH == CALLING
    CALLING_PATH
#else
#if PATH == READING
    READING_PATH
#elif PATH == UPCALL
    UPCALL_PATH
#else
    COMPILED_PATH
#endif
    REST
#endif

#include "processes.inc"
