/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * What the apps waiter and sender have in common: the words that say when events come, and a system
 * call after so many cycles.
 */
    .option norelax

    .macro  words names:vararg
    .irp    name, \names
    .globl  pair_\name
    .weak   cf_\name
pair_\name:
    .word   cf_\name
    .endr
    .endm

    .section .rodata
    .balign 4
    words   first, rounds, step, spin, write, hold, round_ticks, event_ticks, lead_ticks

/* void call_after(uint32_t words[5], uint32_t cycles): a system call whose a0 to a4 are given, so many
   cycles later and some 700; the answer goes to the words. With the cache off a turn of the loops takes
   12, 45 and 46 cycles: each cycle more is one of the last for one of the second, up to eleven. */
    .section .text.call_after, "ax"
    .globl  call_after, tm_mark_event
    .type   call_after, @function
    .balign 8
call_after:
    mv      t0, a0
    mv      t1, s0              # of what has short forms there are few
    mv      t2, s1
    li      a5, 12
    divu    s0, a1, a5
    remu    s1, a1, a5
    sub     t3, a5, s1
    addi    s0, s0, 1
    addi    s1, s1, 1
    lw      a0, 0(t0)
    lw      a1, 4(t0)
    lw      a2, 8(t0)
    lw      a3, 12(t0)
    lw      a4, 16(t0)
    .balign 8
1:  c.addi  s0, -1
    c.bnez  s0, 1b
    mv      s0, t3
    .balign 8
2:  c.addi  s0, -1
    div     zero, s0, a5
    c.bnez  s0, 2b
    .balign 8
3:  c.addi  s1, -1
    div     zero, s1, a5
    c.nop
    c.bnez  s1, 3b
    .balign 8
    mv      s0, t1
    mv      s1, t2
tm_mark_event:
    ecall
    sw      a0, 0(t0)
    sw      a1, 4(t0)
    sw      a2, 8(t0)
    sw      a3, 12(t0)
    ret
    .size   call_after, . - call_after

/* A place to come by at the start of a round. */
    .section .text.begin_round, "ax"
    .globl  begin_round, tm_mark_round
    .type   begin_round, @function
begin_round:
tm_mark_round:
    ret
    .size   begin_round, . - begin_round
