/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Instructions that C cannot express: one attempt each, of 8 bytes, in a table. */
    .option norelax
    .text

/* Each reads or writes one control register. */
    .option push
    .option norvc
    .globl  csr_reads
    .balign 8
csr_reads:
    .irp    csr, 0x300, 0x301, 0x304, 0x305, 0x320, 0x340, 0x341, 0x342, 0x343, 0x344, 0x3a0, 0x3b0, \
                 0x747, 0x757, 0x7a0, 0x7a1, 0x7b0, 0x7b1, 0x7c0, 0x7c1, 0xb00, 0xb02, 0xb03, 0xb80, \
                 0xc00, 0xc02, 0xf11, 0xf14
    csrr    t0, \csr
    ret
    .endr
    .globl  csr_reads_end
csr_reads_end:

    .globl  csr_writes
csr_writes:
    .irp    csr, 0x300, 0x304, 0x305, 0x320, 0x340, 0x341, 0x344, 0x3a0, 0x3a3, 0x3b0, 0x3be, 0x747, \
                 0x7a1, 0x7b0, 0x7c0, 0x7c1, 0xb00, 0xb02
    csrw    \csr, zero
    ret
    .endr
    .globl  csr_writes_end
csr_writes_end:

/* Each is not allowed in user mode, or does not exist on this core. */
    .globl  illegal_words
illegal_words:
    .irp    word, 0x30200073, 0x10200073, 0x00200073, 0x7b200073, 0x12000073, 0x00000000, 0xffffffff, \
                  0x0000000b, 0x0002a007, 0x00000053, 0x1002a2af, 0x0002a02f, 0x80000073
    .4byte  \word
    ret
    .endr
    .globl  illegal_words_end
illegal_words_end:

/* These are allowed everywhere and have no effect. */
    .globl  harmless_words
harmless_words:
    wfi
    ret
    fence.i
    ret
    fence
    ret
    .option pop

/* bool call_with_stack(uint32_t stack): makes a call with garbage in every register that is not an
   argument. Is the result the usual one? */
    .globl  call_with_stack
    .type   call_with_stack, @function
call_with_stack:
    mv      a5, sp
    mv      a6, ra
    mv      a7, gp
    mv      t6, tp
    mv      sp, a0
    mv      ra, a0
    mv      gp, a0
    mv      tp, a0
#if TM_ABI == 1
    li      a0, 4               # memop 2: the start of RAM
    li      a1, 2
    ecall
#else
    li      a0, 2
    li      a4, 5
    ecall
    mv      a0, a1
#endif
    mv      sp, a5
    mv      ra, a6
    mv      gp, a7
    mv      tp, t6
    la      t0, tm_ram_start
    xor     a0, a0, t0
    seqz    a0, a0
    ret
    .size   call_with_stack, . - call_with_stack
