/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Bodies of the group loop. a0 holds the number of iterations and counts down; each returns a word
 * from which the harness sees that all iterations ran.
 */
#include "body.inc"

/* An iteration retires 2 instructions: addi, bnez. There are no others. Returns 0. */
body tm_loop_empty
1:  addi    a0, a0, -1
    bnez    a0, 1b
    ret
end_body tm_loop_empty

/*
 * The same loop at 2, 4 and 6 bytes behind the start of an 8-byte flash word. The 1, 2 or 3 NOPs
 * that push it there stand before the loop and retire once a sample.
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
 * In the three loops below the word is on the stack and is loaded anew each time, as of a volatile
 * variable. The order of the instructions is what compilers make of such loops; another order costs
 * up to 1 cycle more an iteration, where a branch follows the load that it waits for. Only the first
 * is the study's loop of that name (docs/trust.md).
 *
 * An iteration retires 4 instructions: lw, addi, bnez (not taken), bnez. Around the loop, once a
 * sample: addi, sw, 2 c.nop (which bring the loop to its flash word), addi. Returns 0; the branch,
 * were it ever taken, would leave early with more.
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
 * An iteration retires 4 instructions: addi, beqz (not taken), lw, bnez (taken): the branch on the
 * word is the one that goes back. In the last one the lw and the bnez are missing. Around the loop,
 * once a sample: addi, li, sw, c.nop, addi. Returns 0; were the branch ever not taken, the loop would
 * end early with more.
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
 * An iteration retires 8 instructions when the branch is taken (lw, andi, bnez, lw, addi, addi, sw,
 * bnez) and 9 when it is not (the addi that counts these): the branch looks at the lowest bit of
 * the word, to which the iteration adds 1, so it is taken every second time. Around the loop, once
 * a sample: addi, li, sw, c.nop, mv, addi. Returns how often the branch was not taken.
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
