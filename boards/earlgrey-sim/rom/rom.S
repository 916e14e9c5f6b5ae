# SPDX-License-Identifier: Apache-2.0 OR MIT
# The boot ROM: sets up the core as Earl Grey's ROM does for the first boot stage, as far as a
# kernel can see, and jumps there. The core starts at offset 0x80 of the ROM.
    .option norelax
    .section .text
    .globl _start

    .org 0x00
    # Exceptions before the kernel sets its own vector: stop; the core's double fault line signals
    # this to the simulator.
trap:
    unimp

#ifndef PMP_REGIONS
#define PMP_REGIONS 16
#endif

#ifdef ROM_CHIP
    # Words set by the simulator before the start.
    .org 0x40
cpuctrl:
    .word 0
entry: # 0: the first word of flash has the entry
    .word 0
#endif

    .org 0x80
_start:
    la   t0, trap
    csrw mtvec, t0

#ifdef ROM_CHIP
    # The flash's read buffers are off until its controller has started; before that, consecutive
    # fetches return stale words.
    li   t0, 2000
1:  addi t0, t0, -1
    bnez t0, 1b

    lw   t0, cpuctrl
#else
    # CPUCTRL comes from one-time memory; bit 0 turns the instruction cache on.
    li   t0, 0x4013111c
    lw   t0, 0(t0)
#endif
    csrw 0x7c0, t0

#if defined(ROM_CHIP)
    lw   t0, entry
    bnez t0, 2f
    li   t0, 0x20000000
    lw   t0, 0(t0)
2:
#elif defined(ROM_2020)
    # No ePMP and no manifest: the first word of flash is the kernel's entry point.
    li   t0, 0x20000000
    lw   t0, 0(t0)
#else
#if PMP_REGIONS
    # ePMP: first rule locking bypass (bit 2), then the last entry, locked, which allows everything,
    # then machine-mode whitelist policy (bit 1). The order of checks requires this order.
    csrwi 0x747, 4
    li   t0, -1
    csrw 0x3b0 + PMP_REGIONS - 1, t0
    li   t0, 0x9f000000
    csrw 0x3a0 + (PMP_REGIONS - 1) / 4, t0
    csrwi 0x747, 6
#endif

    li   t0, 0x20000400
#endif
    jr   t0
