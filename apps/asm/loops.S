/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Bodies of the group loop. a0 is the number of iterations and counts down. Each body returns a word that
 * proves to the harness that all iterations ran.
 */
#include "body.inc"

/* An iteration retires 2 instructions: addi, bnez. There are no others. Returns 0. */
body tm_loop_empty
1:  addi    a0, a0, -1
    bnez    a0, 1b
    ret
end_body tm_loop_empty

/*
 * The same loop at 2, 4 and 6 bytes after an 8-byte boundary, the start of a flash word. 1, 2 or 3 NOPs
 * before the loop put it there; they retire once per sample.
 */
.macro loop_at offset
body tm_loop_at_\offset
    .rept   \offset / 2
    c.nop
    .endr
1:  addi    a0, a0, -1
    bnez    a0, 1b
    ret
end_body tm_loop_at_\offset
.endm

    loop_at 2
    loop_at 4
    loop_at 6

/*
 * In the three loops below the word is on the stack and is loaded in every iteration, like a volatile
 * variable. The order of the instructions is the one that compilers choose for such loops. In another order
 * an iteration costs up to 1 cycle more, if a branch directly follows the load that it depends on. Only the
 * first loop is the study's loop of that name (docs/trust.md).
 *
 * An iteration retires 4 instructions: lw, addi, bnez (not taken), bnez. Around the loop, once per sample:
 * addi, sw, 2 c.nop (which align the loop to its flash word), addi. Returns 0. If the branch were ever
 * taken, the loop would end early and return more.
 */
body tm_loop_not_taken
    addi    sp, sp, -16
    sw      zero, 12(sp)
    c.nop
    c.nop
1:  lw      a5, 12(sp)
    addi    a0, a0, -1
    bnez    a5, 2f
    bnez    a0, 1b
2:  addi    sp, sp, 16
    ret
end_body tm_loop_not_taken

/*
 * An iteration retires 4 instructions: addi, beqz (not taken), lw, bnez (taken): the branch on the word
 * closes the loop. The last iteration has no lw and no bnez. Around the loop, once per sample: addi, li, sw,
 * c.nop, addi. Returns 0. If the branch were ever not taken, the loop would end early and return more.
 */
body tm_loop_taken
    addi    sp, sp, -16
    li      a5, 1
    sw      a5, 12(sp)
    c.nop
1:  addi    a0, a0, -1
    beqz    a0, 2f
    lw      a5, 12(sp)
    bnez    a5, 1b
2:  addi    sp, sp, 16
    ret
end_body tm_loop_taken

/*
 * An iteration retires 8 instructions when the branch is taken (lw, andi, bnez, lw, addi, addi, sw, bnez)
 * and 9 when it is not (plus the addi that counts these iterations). The branch tests the lowest bit of the
 * word, and each iteration adds 1 to the word, so it is taken every second time. Around the loop, once per
 * sample: addi, li, sw, c.nop, mv, addi. Returns how often the branch was not taken.
 */
body tm_loop_alternating
    addi    sp, sp, -16
    li      a3, 0
    sw      zero, 12(sp)
    c.nop
1:  lw      a5, 12(sp)
    andi    a5, a5, 1
    bnez    a5, 2f
    addi    a3, a3, 1
2:  lw      a5, 12(sp)
    addi    a0, a0, -1
    addi    a5, a5, 1
    sw      a5, 12(sp)
    bnez    a0, 1b
    mv      a0, a3
    addi    sp, sp, 16
    ret
end_body tm_loop_alternating
