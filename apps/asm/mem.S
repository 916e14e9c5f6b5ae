/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Bodies of the group mem. Those of copying, reading and writing take struct tm_span and move 8 words
 * a pass; in each the loop starts on an 8-byte boundary too.
 */
#include "body.inc"
#include "rows.h"

/*
 * Walk a linked list from the node in a0 to its end; a node begins with the pointer to the next.
 * A node retires 2 instructions: lw, bnez. There are no others. Returns 0, the end.
 */
body tm_list_walk
1:  lw      a0, 0(a0)
    bnez    a0, 1b
    ret
end_body tm_list_walk

/* Where to and where from, in a0 and a1, up to a2. Retires 3 lw and a c.nop, once a sample. */
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
 * 8 words from a0 on to behind them: 8 lw, 8 sw, no others. It is what compilers make of a memcpy of
 * 32 bytes between places that they know. Returns where the words are from.
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

/* 8 words retire 10 instructions: 8 lw, addi, bne; and a mv once a sample. Returns the last word. */
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
 * 8 words retire 10 instructions: 8 sw, addi, bne. It writes zeros into what the span is from, and
 * returns where the span is to.
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
 * The bytes from a0 on, 8 a pass, retire 10 instructions a pass: 8 lbu, addi, bne; and 3 once a
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

/* Likewise with 8 sb of zeros. Returns the end. */
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
 * The words from a0 on, which is no multiple of 4: 8 a pass retire 10 instructions: 8 lw,
 * addi, bne. The core makes two accesses of each lw. Returns the last word.
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
