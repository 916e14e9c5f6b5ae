// SPDX-License-Identifier: Apache-2.0 OR MIT
// Tests what a path must do (README.md): traps of user mode with registers from a table, and the outcome of
// each, which lab/tockmark_lab/trap_cases.py judges. The path is chosen as in calls.S. A case ends with the
// next trap that is not a call. Then the mailbox gets mcause, mepc, x1 to x31, the waiting upcall (four
// words), and both counters before and after.
#define READING 1
#define UPCALL 2
#define COMPILED 3
#include "paths.inc"

.equ CASE,     0x600 // in the kernel's RAM: the current case
.equ BEFORE,   0x604 // mcycle and minstret
.equ OF_CASE,  160   // bytes: pc, x1 to x31, PENDING, ARGUMENT, FUNCTION, USERDATA, mscratch, mtval

.text
.globl _start
.org 0x480
_start:
    START
    la   t0, kernel
    csrw mtvec, t0
    la   a0, regions
    .irp i, 0, 1, 2, 3
    lw   t0, 4 * \i(a0)
    csrw pmpaddr\i, t0
    .endr
    li   t0, RAM
    la   t1, cases
    sw   t1, CASE(t0)
again:
    li   t0, RAM
    lw   x31, CASE(t0)
    la   t1, cases_end
    beq  x31, t1, ended
    .irp i, 0, 1, 2, 3, 4, 5
    lw   t1, 128 + 4 * \i(x31)
    sw   t1, PENDING + 4 * \i(t0)
    .endr
    lw   t1, 152(x31)
    csrw mscratch, t1
    lw   t1, 156(x31)
    csrw mtval, t1
    lw   t1, 0(x31)
    csrw mepc, t1
    li   t1, REGIONS
    csrw pmpcfg0, t1
    li   t1, 0x1800
    csrc mstatus, t1
    csrr t1, mcycle
    sw   t1, BEFORE(t0)
    csrr t1, minstret
    sw   t1, BEFORE + 4(t0)
    .irp n, 1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30
    lw   x\n, 4 * \n(x31)
    .endr
    lw   x31, 124(x31)
    mret

exit:
faulted:
    csrr s1, mcycle
    csrr s2, minstret
    li   t0, RAM
    li   s0, MAILBOX
    csrr t1, mcause
    sw   t1, 0(s0)
    csrr t1, mepc
    sw   t1, 0(s0)
    li   t2, 1
1:  slli t1, t2, 2
    add  t1, t1, t0
    lw   t1, SAVED(t1)
    sw   t1, 0(s0)
    addi t2, t2, 1
    li   t1, 32
    bne  t2, t1, 1b
    .irp i, 0, 1, 2, 3
    lw   t1, PENDING + 4 * \i(t0)
    sw   t1, 0(s0)
    .endr
    lw   t1, BEFORE(t0)
    sw   t1, 0(s0)
    sw   s1, 0(s0)
    lw   t1, BEFORE + 4(t0)
    sw   t1, 0(s0)
    sw   s2, 0(s0)
    lw   t1, CASE(t0)
    addi t1, t1, OF_CASE
    sw   t1, CASE(t0)
    j    again

ended:
    li   t0, MAILBOX
    sw   zero, 4(t0)
1:  j    1b
stop:
    li   t0, MAILBOX
    li   t1, 2
    sw   t1, 4(t0)
1:  j    1b

#if PATH == READING
    READING_PATH
#elif PATH == UPCALL
    UPCALL_PATH
#else
    COMPILED_PATH
#endif
    REST

// User mode: a call at each position of a flash word, and each type of fault.
.macro CALL name
    .globl \name
\name:
    .option push
    .option norvc
    ecall
    ebreak
    .option pop
.endm
    .balign 8
    CALL call_0
    c.nop
    CALL call_2
    c.nop
    CALL call_4
    c.nop
    CALL call_6
    .globl upcalled, illegal, loads, stores, breaks
upcalled:
breaks:
    ebreak
illegal:
    .half 0
loads:
    lw   zero, 0(zero)
stores:
    sw   zero, 0(zero)

    .balign 8
regions: // all of flash, and user mode's part of RAM
    .word FLASH >> 2, (FLASH + FLASH_SIZE) >> 2, USER >> 2, USER_END >> 2

    .balign 8
cases:
#include "cases.inc"
cases_end:
