// SPDX-License-Identifier: Apache-2.0 OR MIT
// Measures the parts of a system call (README.md), each between two counter reads in machine mode. The
// mailbox gets cycles and instructions of each, net of the first, in the order of limit.toml. Each part
// runs TIMES in a row, and the last run counts.
#include "kernel.inc"

.macro BEGIN
    .balign 8
    csrr s6, minstret
    csrr s4, mcycle
.endm

.macro END // a refill or a store ends in the NOPs, which the null control also has
    .option push
    .option norvc
    nop
    nop
    csrr s5, mcycle
    csrr s7, minstret
    .option pop
.endm

.macro PASSES
    li   s0, TIMES
9:
.endm

.macro PRINT
    addi s0, s0, -1
    bnez s0, 9b
    jal  print
.endm

.text
.globl _start
.org 0x480
_start:
    START
    li   sp, STACK - 256
    li   gp, MAILBOX
    li   s2, 0
    li   s3, 0

    PASSES // the null control itself
    BEGIN
    END
    PRINT
    mv   s2, s5
    mv   s3, s7

    la   t0, arrive
    csrw mtvec, t0
    la   s8, 1f
    PASSES // trap entry
    BEGIN
    ecall
1:  PRINT

    PASSES // mret
    li   t0, 0x1800 // to machine mode
    csrs mstatus, t0
    la   t0, 1f
    csrw mepc, t0
    BEGIN
    mret
    .balign 8
1:  END
    PRINT

    PASSES // a register to work with, and back
    BEGIN
    csrw mscratch, t0
    csrr t0, mscratch
    END
    PRINT

    csrwi mcause, 8
    PASSES // is it a system call?
    BEGIN
    csrr t0, mcause
    addi t0, t0, -8
    beqz t0, 1f
    .balign 8
1:  END
    PRINT

    PASSES // after the ecall
    BEGIN
    csrr t0, mepc
    addi t0, t0, 4
    csrw mepc, t0
    END
    PRINT

    li   a4, TOCK_COMMAND
    li   a0, TM_PERF
    li   a1, TM_PERF_BOTH
    PASSES // class, driver and number by comparison
    BEGIN
    addi t0, a4, -TOCK_COMMAND
    bnez t0, 1f
    li   t0, TM_PERF
    bne  a0, t0, 1f
    addi t0, a1, -TM_PERF_BOTH
    bnez t0, 1f
1:  END
    PRINT

    la   t0, 1f
    li   t1, RAM
    sw   t0, 4 * TOCK_COMMAND(t1)
    PASSES // only the class, by a table in RAM
    BEGIN
    li   t0, 7
    bgeu a4, t0, 1f
    slli t0, a4, 2
    lui  t1, %hi(RAM)
    add  t0, t0, t1
    lw   t0, 0(t0)
    jr   t0
    .balign 8
1:  END
    PRINT

    PASSES // one call
    BEGIN
    jal  procedure
    END
    PRINT

    PASSES // sp swapped, and back
    csrw mscratch, sp
    BEGIN
    csrrw sp, mscratch, sp
    csrrw sp, mscratch, sp
    END
    PRINT

    PASSES // 12 registers saved
    BEGIN
    sw   t0, 0(sp)
    each_called sw
    END
    PRINT

    PASSES // and back
    BEGIN
    lw   t0, 0(sp)
    each_called lw
    END
    PRINT

    PASSES // 14 registers saved
    BEGIN
    each_kept sw, sp
    END
    PRINT
    PASSES // and as many back
    BEGIN
    .irp r, t0, t1, t2, a0, a1, a2, a3, a4, a5, a6, a7, t3, t4, t5
    lw   \r, 8(sp)
    .endr
    END
    PRINT

    PASSES // user regions closed
    BEGIN
    csrwi pmpcfg0, 0
    END
    PRINT

    PASSES // and opened
    BEGIN
    li   t0, REGIONS
    csrw pmpcfg0, t0
    END
    PRINT

    li   a5, RAM
    PASSES // other regions: a pair of addresses
    BEGIN
    lw   t2, ADDRESS(a5)
    lw   t3, ADDRESS + 4(a5)
    csrw pmpaddr0, t2
    csrw pmpaddr1, t3
    END
    PRINT

    PASSES // two pairs
    BEGIN
    SWITCH_ADDRESSES a5
    END
    PRINT

    PASSES // one word for four entries, and so for two processes
    BEGIN
    lw   t2, CONFIG(a5)
    csrw pmpcfg0, t2
    END
    PRINT

    sw   zero, 4(gp)
1:  j    1b

// Prints s5 and s7, minus s4 and s6, minus the null control.
    .balign 8
print:
    sub  s5, s5, s4
    sub  s5, s5, s2
    sub  s7, s7, s6
    sub  s7, s7, s3
    sw   s5, 0(gp)
    sw   s7, 0(gp)
    ret

    .balign 8
procedure:
    ret

// The trap entry of the ecall; continues at s8.
    .balign 256
arrive:
    END
    jr   s8
