/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* A read (csrr t0, N) and a write (csrw N, zero) of each control register, as words: the assembler
   does not know all numbers. */
    .option norelax
    .option norvc
    .text

    .macro  table name, word
    .globl  \name
    .balign 8
\name:
    .set    number, 0
    .rept   4096
    .4byte  number << 20 | \word
    ret
    .set    number, number + 1
    .endr
    .endm

    table   csr_reads, 0x22f3
    table   csr_writes, 0x1073
