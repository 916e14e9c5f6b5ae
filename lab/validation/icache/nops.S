// SPDX-License-Identifier: Apache-2.0 OR MIT
// Straight code of 1 to 8 KiB of NOPs, first of 2 bytes, then of 4. Each runs three times in a row, and
// the cycles of the third pass go to the mailbox. ICACHE=1 switches the instruction cache on.
.option norelax
.option norvc
.globl _start
.org 0x480
_start:
    li   gp, 0x41130000
    csrwi 0x7c0, ICACHE

.macro PASSES end
    .set size, 1024
    .rept 8
    fence.i
    li   t0, 1500 // until the cache is invalidated
1:  addi t0, t0, -1
    bnez t0, 1b
    la   s8, \end - size
    li   s0, 3
1:  csrr s4, mcycle
    jalr s8
    csrr s5, mcycle
    addi s0, s0, -1
    bnez s0, 1b
    sub  s5, s5, s4
    sw   s5, 0(gp)
    .set size, size + 1024
    .endr
.endm
    PASSES end2
    PASSES end4
    sw   zero, 4(gp)
1:  j    1b

.option rvc
    .balign 64
    .rept 4096
    c.nop
    .endr
end2:
    ret
.option norvc
    .balign 64
    .rept 2048
    nop
    .endr
end4:
    ret
