// SPDX-License-Identifier: Apache-2.0 OR MIT
// The benchmarks of the 2021 study that use no kernel, as small bodies in the form that a compiler gives
// such loops. Each is OFFSET bytes after the start of an 8-byte flash word. They run in bare machine
// mode from flash, and send the cycles of each to the mailbox, in the order of study.toml.
.option norelax

.ifndef MAILBOX // another chip has another address: --defsym
.set MAILBOX, 0x41130000
.endif

.macro BEGIN before=0 // code above it is not measured; `before` bytes precede the loop
    .balign 8
    csrr s4, mcycle
    .rept (OFFSET + 20 - \before) % 8 / 2
    c.nop
    .endr
.endm

// A counter read starts with a few instructions, like a system call, during which the last store may
// end. The cost of the read and of BEGIN's NOPs, s3, is subtracted.
.macro END
    .option push
    .option norvc
    .rept 4
    nop
    .endr
    csrr s5, mcycle
    sub  s5, s5, s4
    sub  s5, s5, s3
    sw   s5, 0(gp)
    .option pop
.endm

.globl _start
.org 0x480
_start:
    li   gp, MAILBOX
    li   sp, 0x10001000
    li   s3, 0
    BEGIN
    END
    mv   s3, s5

    // --- loop.*: 1000 iterations; the tested word is volatile, on the stack ----------------------
    li   a0, 1000 // empty
    BEGIN
1:  addi a0, a0, -1
    bnez a0, 1b
    END

    li   a0, 1000 // not_taken
    sw   zero, 12(sp)
    BEGIN
1:  lw   a5, 12(sp)
    addi a0, a0, -1
    bnez a5, 2f
    bnez a0, 1b
2:  END

    // alternating: by the lowest bit of the loop's count, which selects what is added to the word. The
    // first of the 1000 passes is in front of the loop. An odd count continues after it, `tail` bytes
    // after the start of a flash word.
.macro ALTERNATING tail
    li   s0, 1000
    BEGIN before=10
    lw   a4, 12(sp)
    mv   s2, s1
    li   a5, 1
    addi a4, a4, 20
    sw   a4, 12(sp)
1:  andi a4, a5, 1
    bnez a4, 3f
    lw   a4, 12(sp)
    addi a5, a5, 1
    addi a4, a4, 20
    sw   a4, 12(sp)
    bne  a5, s0, 1b
2:  END
    j    4f
    .balign 8
    .rept \tail / 2
    c.nop
    .endr
3:  lw   a4, 12(sp)
    addi a5, a5, 1
    addi a4, a4, 2
    sw   a4, 12(sp)
    bne  a5, s0, 1b
    j    2b
4:
.endm
    ALTERNATING 0
    ALTERNATING 2
    ALTERNATING 4
    ALTERNATING 6

    li   a0, 1000 // taken: over an instruction that never runs, and back: two branches per iteration
    li   a5, 12
    BEGIN
1:  bnez a5, 2f
    addi a5, a5, -12
2:  addi a0, a0, -1
    bnez a0, 1b
    END

    // --- call.args: 1 and 8 arguments, each put into a register and stored by the callee ---------
.macro CALL count
    BEGIN
    .irp n, 0, 1, 2, 3, 4, 5, 6, 7
    .if \n < \count
    li   a\n, \n + 1
    .endif
    .endr
    jal  callee\count
    END
.endm
    CALL 1
    CALL 8

    // --- mem.*: walk of 500 nodes; 32 bytes copied straight --------------------------------------
    li   a0, 0x10002000
    li   a1, 499
1:  addi a2, a0, 16
    sw   a2, 0(a0)
    mv   a0, a2
    addi a1, a1, -1
    bnez a1, 1b
    sw   zero, 0(a0)
    li   a0, 0x10002000
    BEGIN
1:  lw   a0, 0(a0)
    bnez a0, 1b
    END

    li   a0, 0x10002000
    BEGIN
    .rept 100
    lw   a1, 0(a0)
    .endr
    END

    li   s0, 0x10002000
    li   s1, 0x10003000
    BEGIN
    lw   a0, 0(s0)
    lw   a1, 4(s0)
    lw   a2, 8(s0)
    lw   a3, 12(s0)
    lw   a4, 16(s0)
    lw   a5, 20(s0)
    lw   a6, 24(s0)
    lw   a7, 28(s0)
    sw   a0, 0(s1)
    sw   a1, 4(s1)
    sw   a2, 8(s1)
    sw   a3, 12(s1)
    sw   a4, 16(s1)
    sw   a5, 20(s1)
    sw   a6, 24(s1)
    sw   a7, 28(s1)
    END

    // --- mem.*: 1024 words; a4 from, a3 to, a2 the end -------------------------------------------
.macro WORDS
    li   a4, 0x10002000
    li   a3, 0x10006000
    li   a2, 0x10003000
.endm
    WORDS // copy_memcpy: the C library's loop of four words a pass
    BEGIN
1:  lw   a6, 0(a4)
    lw   a5, 4(a4)
    lw   a1, 8(a4)
    lw   a0, 12(a4)
    addi a3, a3, 16
    sw   a6, -16(a3)
    sw   a5, -12(a3)
    sw   a1, -8(a3)
    sw   a0, -4(a3)
    addi a4, a4, 16
    bne  a4, a2, 1b
    END

    WORDS // copy_loop
    BEGIN
1:  lw   a5, 0(a4)
    addi a4, a4, 4
    sw   a5, 0(a3)
    addi a3, a3, 4
    bne  a4, a2, 1b
    END

    WORDS // read_sum
    BEGIN
1:  lw   a5, 0(a4)
    addi a4, a4, 4
    add  a3, a3, a5
    bne  a4, a2, 1b
    END

    WORDS // write_const
    BEGIN
1:  sw   zero, 0(a4)
    addi a4, a4, 4
    bne  a4, a2, 1b
    END

    // --- flash.*: 64 passes of 16 words; 200 words, each with the distance to the next --------
    la   a4, words
    li   a2, 4096
    add  a2, a2, a4
    BEGIN
    .option push
    .option norvc // 4-byte loads, as with a base register above a5
1:  .irp n, 0, 4, 8, 12, 16, 20, 24, 28, 32, 36, 40, 44, 48, 52, 56, 60
    lw   a5, \n(a4)
    .endr
    addi a4, a4, 64
    bne  a4, a2, 1b
    .option pop
    END

    la   a0, words // index a4, bytes read a3, sum a2
    li   a4, 0
    li   a3, 0
    li   a1, 3600
    BEGIN
1:  slli a5, a4, 2
    add  a5, a5, a0
    lw   a5, 0(a5)
    addi a4, a4, 1
    add  a4, a4, a5
    add  a2, a2, a5
    addi a3, a3, 4
    bltu a4, a1, 1b
    END

    // --- icache.nops: 2048 of 2 bytes ------------------------------------------------------------
    BEGIN
    .rept 2048
    c.nop
    .endr
    END

    sw   zero, 4(gp)
1:  j    1b

.irp count, 1, 8
    .balign 8
callee\count:
    addi sp, sp, -48
    .irp n, 0, 1, 2, 3, 4, 5, 6, 7
    .if \n < \count
    sw   a\n, 4 * \n(sp)
    .endif
    .endr
    addi sp, sp, 48
    ret
.endr

    .balign 64
words:
    .rept 4096
    .word 17
    .endr
