/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Bodies of the group mem. */
#include "body.inc"

/*
 * Walk a linked list from the node in a0 to its end; a node begins with the pointer to the next.
 * A node retires 2 instructions: lw, bnez. There are no others. Returns 0, the end.
 */
body tm_list_walk
1:  lw      a0, 0(a0)
    bnez    a0, 1b
    ret
end_body tm_list_walk

/*
 * Copy words, 8 at a time: a0 points to struct tm_copy (destination, source, end of the source).
 * 8 words retire 19 instructions: 8 lw, 8 sw, 2 addi, bne. Before the loop, once a sample: 3 lw
 * and a c.nop, which bring it to its flash word. Returns the end of the destination.
 */
body tm_copy_words
    lw      a1, 4(a0)
    lw      a2, 8(a0)
    lw      a0, 0(a0)
    c.nop
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
