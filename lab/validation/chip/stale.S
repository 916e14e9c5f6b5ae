# SPDX-License-Identifier: Apache-2.0 OR MIT
# Shows the stale words that the flash of Earl Grey of 2021-03 returns while its read buffers are off
# (docs/boards-and-simulator.md). It replaces the boot ROM, without its wait. It runs code in flash right
# after reset, and again after the flash's controller has started. Each word of that code adds another
# number. It sends both sums (0 for one that ends in a trap), which should be equal.
    .option norvc
    .section .rom, "ax"
    .globl _start
trap: # a word that is not one of our instructions: there is no sum
    li   a0, 0
    j    sent

    .org 0x80
_start:
    la   t0, trap
    csrw mtvec, t0
    li   s0, MAILBOX
    li   s1, 0

again:
    li   a0, 0
    la   t0, sum
    jalr t0
sent:
    sw   a0, 0(s0)
    bnez s1, done
    li   s1, 1
    li   t1, 2000
1:  addi t1, t1, -1
    bnez t1, 1b
    j    again
done:
    sw   zero, 4(s0)
    j    done

    .section .flash, "ax"
    .org 0x400
sum:
    .set n, 1
    .rept 60
    addi a0, a0, n
    .set n, n + 1
    .endr
    ret
