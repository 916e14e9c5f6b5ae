/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Bodies of the group mem. The bodies that copy, read and write get a struct tm_span and process 8 words
 * per pass. Each loop starts on an 8-byte boundary.
 */
#include "body.inc"
#include "rows.h"

/*
 * Walks a linked list from the node in a0 to its end. A node begins with the pointer to the next one. A node
 * retires 2 instructions: lw, bnez. There are no others. Returns 0, the end.
 */
body tm_list_walk
1:  lw      a0, 0(a0)
    bnez    a0, 1b
    ret
end_body tm_list_walk

/* Loads destination and source into a0 and a1, and the source's end into a2. Retires 3 lw and a c.nop, once
 * per sample. */
.macro span
    lw      a1, 4(a0)
    lw      a2, 8(a0)
    lw      a0, 0(a0)
    c.nop
.endm

/* 8 words retire 19 instructions: 8 lw, 8 sw, 2 addi, bne. Returns the end of the destination. */
body tm_copy_words
    span
1:  lw      a3, 0(a1)
    lw      a4, 4(a1)
    lw      a5, 8(a1)
    lw      a6, 12(a1)
    lw      a7, 16(a1)
    lw      t0, 20(a1)
    lw      t1, 24(a1)
    lw      t2, 28(a1)
    sw      a3, 0(a0)
    sw      a4, 4(a0)
    sw      a5, 8(a0)
    sw      a6, 12(a0)
    sw      a7, 16(a0)
    sw      t0, 20(a0)
    sw      t1, 24(a0)
    sw      t2, 28(a0)
    addi    a1, a1, 32
    addi    a0, a0, 32
    bne     a1, a2, 1b
    ret
end_body tm_copy_words

/*
 * Copies 8 words at a0 to the 8 words after them: 8 lw, 8 sw, nothing else. Compilers make this of a memcpy
 * of 32 bytes between fixed addresses. Returns the source's address.
 */
body tm_copy_8_words
    lw      a1, 0(a0)
    lw      a2, 4(a0)
    lw      a3, 8(a0)
    lw      a4, 12(a0)
    lw      a5, 16(a0)
    lw      a6, 20(a0)
    lw      a7, 24(a0)
    lw      t0, 28(a0)
    sw      a1, 32(a0)
    sw      a2, 36(a0)
    sw      a3, 40(a0)
    sw      a4, 44(a0)
    sw      a5, 48(a0)
    sw      a6, 52(a0)
    sw      a7, 56(a0)
    sw      t0, 60(a0)
    ret
end_body tm_copy_8_words

/* 8 words retire 10 instructions: 8 lw, addi, bne; a mv comes once per sample. Returns the last word. */
body tm_read_words
    span
1:  .irp    offset, 0, 4, 8, 12, 16, 20, 24, 28
    lw      a3, \offset(a1)
    .endr
    addi    a1, a1, 32
    bne     a1, a2, 1b
    mv      a0, a3
    ret
end_body tm_read_words

/*
 * 8 words retire 10 instructions: 8 sw, addi, bne. Writes zeros to the span's source, and returns the
 * address of the span's destination.
 */
body tm_write_words
    span
1:  .irp    offset, 0, 4, 8, 12, 16, 20, 24, 28
    sw      zero, \offset(a1)
    .endr
    addi    a1, a1, 32
    bne     a1, a2, 1b
    ret
end_body tm_write_words

/*
 * Reads the bytes from a0 on, 8 per pass, with 10 instructions per pass: 8 lbu, addi, bne; 3 come once per
 * sample: addi, nop, mv. Returns the last byte.
 */
body tm_read_bytes
    addi    a1, a0, TM_INNER_mem_read_byte
    .balign 8
1:  .irp    offset, 0, 1, 2, 3, 4, 5, 6, 7
    lbu     a2, \offset(a0)
    .endr
    addi    a0, a0, 8
    bne     a0, a1, 1b
    mv      a0, a2
    ret
end_body tm_read_bytes

/* Writes zeros in the same way, with 8 sb per pass. Returns the end. */
body tm_write_bytes
    addi    a1, a0, TM_INNER_mem_write_byte
    .balign 8
1:  .irp    offset, 0, 1, 2, 3, 4, 5, 6, 7
    sb      zero, \offset(a0)
    .endr
    addi    a0, a0, 8
    bne     a0, a1, 1b
    ret
end_body tm_write_bytes

/*
 * Reads the words from a0 on, which is not a multiple of 4: 8 words per pass, with 10 instructions: 8 lw,
 * addi, bne. The core makes two accesses per lw. Returns the last word.
 */
body tm_read_straddling
    addi    a1, a0, 4 * TM_INNER_mem_misaligned
    .balign 8
1:  .irp    offset, 0, 4, 8, 12, 16, 20, 24, 28
    lw      a2, \offset(a0)
    .endr
    addi    a0, a0, 32
    bne     a0, a1, 1b
    mv      a0, a2
    ret
end_body tm_read_straddling
