# SPDX-License-Identifier: Apache-2.0 OR MIT
# What simple_system runs for simspeed: without end, a call, loads and stores, a multiplication,
# branches taken and not. Its memory is one of one cycle, so nearly every cycle does work.
    .globl _start
    .org 0x80
_start:
    csrsi 0x7c0, 1      # the i-cache, where the core has one
    la   sp, buffer
    li   s0, 1
again:
    li   s1, 32
    mv   a0, sp
next:
    lw   a1, 0(a0)
    add  a1, a1, s0
    mul  a2, a1, s1
    xor  a1, a1, a2
    andi a3, a1, 7
    bnez a3, 1f
    jal  ra, mix
1:  sw   a1, 0(a0)
    addi a0, a0, 4
    addi s1, s1, -1
    bnez s1, next
    addi s0, s0, 1
    j    again
mix:
    slli a3, a1, 5
    srli a1, a1, 27
    or   a1, a1, a3
    ret
    .balign 4
buffer:
    .zero 128
