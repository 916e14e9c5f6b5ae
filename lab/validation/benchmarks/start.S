// SPDX-License-Identifier: Apache-2.0 OR MIT
// Starts a bare C program in SRAM. The i-cache stays off, since memory answers at once.
    .section .text.start
    .globl _start
    .org 0x80
_start:
    la   sp, stack_top
    jal  main
1:  j    1b
