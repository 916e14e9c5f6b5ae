/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Bodies of the group flash, and the tables in flash that they read. Code and data are in the same flash:
 * without the instruction cache, a loop's fetches and loads share the flash's read buffers.
 */
#include "body.inc"
#include "rows.h"

#define PASS 16 /* words read per pass of the loop */

/*
 * Reads the table's words in order, PASS words per pass: 16 lw, addi, bne, all of 4 bytes; and 6 once per
 * sample around the loop. It starts 4 bytes after an 8-byte boundary, where its cost fits the study's
 * figure. Returns the last word.
 */
body tm_flash_read_seq
    .option push
    .option norvc
    la      a6, tm_flash_table
    li      a1, 4 * TM_INNER_flash_read_seq
    add     a1, a1, a6
    .if     (. - tm_flash_read_seq) % 8 != 4
    nop
    .endif
1:  .irp    offset, 0, 4, 8, 12, 16, 20, 24, 28, 32, 36, 40, 44, 48, 52, 56, 60
    lw      a7, \offset(a6)
    .endr
    addi    a6, a6, 4 * PASS
    bne     a6, a1, 1b
    mv      a0, a7
    ret
    .option pop
end_body tm_flash_read_seq

/*
 * Walks through the table: each word is the number of further words to skip. A load retires 8 instructions:
 * slli, add, lw, addi, add, add, addi, bltu; 9 come once per sample, around the loop. Returns the sum of the
 * words that it read.
 */
body tm_flash_read_sporadic
    la      a0, tm_flash_table
    li      a4, 0                   /* index */
    li      a3, 0                   /* bytes read */
    li      a2, 0                   /* sum */
    li      a1, TM_INNER_flash_read_seq
    .balign 8
1:  slli    a5, a4, 2
    add     a5, a5, a0
    lw      a5, 0(a5)
    addi    a4, a4, 1
    add     a4, a4, a5
    add     a2, a2, a5
    addi    a3, a3, 4
    bltu    a4, a1, 1b
    mv      a0, a2
    ret
end_body tm_flash_read_sporadic

/* A chain of lw: each loads the address of the next one. Nothing else. Returns the last address. */
body tm_flash_chain
    .rept   TM_INNER_flash_latency
    lw      a0, 0(a0)
    .endr
    ret
end_body tm_flash_chain

    .section .rodata
/* Each word is between 0 and 63. The numbers come from a linear congruential generator. */
    .balign 64
    .globl  tm_flash_table
tm_flash_table:
    .set    seed, 2021
    .rept   TM_INNER_flash_read_seq
    .set    seed, (seed * 1103515245 + 12345) & 0x7fffffff
    .word   (seed >> 16) & 63
    .endr
    .globl  tm_flash_table_end
tm_flash_table_end:

/* Two words of one 8-byte flash word, each with the address of the other. */
    .balign 8
    .globl  tm_flash_within
tm_flash_within:
    .word   tm_flash_within + 4, tm_flash_within

/* Each word is in the flash word after the previous one. */
    .balign 8
    .globl  tm_flash_next
tm_flash_next:
    .rept   TM_INNER_flash_latency
    .word   . + 8, 0
    .endr

/* In flash words that are 1 KiB apart, 16 of them in a ring: more than there are read buffers. */
    .balign 8
    .globl  tm_flash_far
tm_flash_far:
    .rept   15
    .word   . + 1024
    .space  1020
    .endr
    .word   tm_flash_far
    .globl  tm_flash_chains_end
tm_flash_chains_end:
