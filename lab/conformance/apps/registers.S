/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The checks that need assembly. */
    .text
    .macro each_register op
    .irp    r, 3, 4, 5, 6, 7, 8, 9, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31
    \op     \r
    .endr
    .endm

    .macro fill r
    xori    x\r, sp, \r * 8
    .endm

    .macro compare r
    xori    x\r, x\r, \r * 8
    xor     x\r, x\r, sp
    beqz    x\r, 6f
    ori     a0, a0, 1
6:
    .endm

    .macro each_saved op
    \op     ra, 0(sp)
    \op     gp, 4(sp)
    \op     tp, 8(sp)
    \op     s0, 12(sp)
    \op     s1, 16(sp)
    \op     s2, 20(sp)
    \op     s3, 24(sp)
    \op     s4, 28(sp)
    \op     s5, 32(sp)
    \op     s6, 36(sp)
    \op     s7, 40(sp)
    \op     s8, 44(sp)
    \op     s9, 48(sp)
    \op     s10, 52(sp)
    \op     s11, 56(sp)
    .endm

/* bool registers_lost(const uint32_t words[5], uint32_t turns): fills every register, then makes the call
   with these a0 to a4, or if turns is not 0, spins. Has a register other than a0 to a3 changed? */
    .globl  registers_lost
    .type   registers_lost, @function
registers_lost:
    addi    sp, sp, -80
    each_saved sw
    sw      sp, 60(sp)
    mv      a5, a0
    mv      a6, a1
    sw      a6, 64(sp)
    lw      a0, 0(a5)
    lw      a1, 4(a5)
    lw      a2, 8(a5)
    lw      a3, 12(a5)
    lw      a4, 16(a5)
    sw      a4, 68(sp)
    lw      ra, 64(sp)
    each_register fill
    beqz    ra, 3f
2:  addi    ra, ra, -1
    bnez    ra, 2b
    j       4f
3:  ecall
4:  li      a0, 0
    lw      a1, 60(sp)          # is sp the same?
    beq     a1, sp, 5f
    mv      sp, a1
    li      a0, 1
5:  lw      a1, 68(sp)
    beq     a1, a4, 7f
    ori     a0, a0, 1
7:  each_register compare
    each_saved lw
    addi    sp, sp, 80
    ret
    .size   registers_lost, . - registers_lost
