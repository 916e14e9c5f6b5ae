/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The common parts of the apps waiter and sender: the words that set the times of events, and a system
 * call after a number of cycles.
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

/* void call_after(uint32_t words[5], uint32_t cycles): makes the system call with these a0 to a4, `cycles`
   cycles plus about 700 later, and writes its result to the words. With the cache off an iteration of the
   loops takes 12, 45 and 46 cycles: replacing one of 45 by one of 46 adds a cycle, up to eleven times. */
    .section .text.call_after, "ax"
    .globl  call_after, tm_mark_event
    .type   call_after, @function
    .balign 8
call_after:
    mv      t0, a0
    mv      t1, s0              # few registers have short forms
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

/* Reached at the start of each round. */
    .section .text.begin_round, "ax"
    .globl  begin_round, tm_mark_round
    .type   begin_round, @function
begin_round:
tm_mark_round:
    ret
    .size   begin_round, . - begin_round
