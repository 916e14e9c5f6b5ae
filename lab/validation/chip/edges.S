// SPDX-License-Identifier: Apache-2.0 OR MIT
// What the programs of ../rtl-cw310 do not have: accesses that fail, two requests to a device with room
// for one, when the core sees an interrupt line, and what the UART receives. With the i-cache off and then on.
// ROW names a measurement.
.include "common.inc"

.set UART, 0x40000000
.set TIMER, 0x40100000
.set FLASH_CTRL, 0x41000000
.set TIMER_IRQ, 125
.set UART_IRQ, 3 // tx_empty
.set BUFFER, 0x10001000
.set MTIP, 0x80

.macro ROW name
.endm

// BEGIN at a known phase of the peripheral clock: after a load from the UART
.macro IN_STEP
    li   t1, UART
    lw   t0, 4(t1)
    mv   t0, t0
    BEGIN
.endm

// loads and stores with the rights of user mode, which has none but to the word at BUFFER
.macro DENIED first, second=nop
    csrs mstatus, s11
    BEGIN
    .rept 5
    \first
    \second
    .endr
    csrr s5, mcycle
    csrr s7, minstret
    csrc mstatus, s11
    jal  print
.endm

.macro FIVE first, second=nop
    IN_STEP
    .rept 5
    \first
    \second
    .endr
    END
.endm

// until mip shows the line s0, or (bnez) no longer
.macro POLL branch=beqz
1:  csrr t2, mip
    and  t2, t2, s0
    \branch t2, 1b
.endm

// the timer's interrupt, `compare` ticks after the timer is started; NOPs in front of the poll
.macro EXPIRES compare, nops
    li   a1, \compare
    jal  arm
    IN_STEP
    sw   a2, 0(s9)
    PAD \nops
    POLL
    END
.endm

// a store to a register while the timer runs and has expired, and the poll of its effect
.macro AFTER register, branch
    li   a1, 1
    jal  arm
    sw   a2, 0(s9)
    jal  delay
    IN_STEP
    sw   a2, \register(s9)
    POLL \branch
    END
.endm

    ALIGN8
arm: // stops the timer, clears it, and sets its comparator to a1; prescaler a0
    sw   zero, 0x000(s9)
    sw   a0, 0x100(s9)
    sw   zero, 0x104(s9)
    sw   zero, 0x108(s9)
    sw   a1, 0x10c(s9)
    sw   zero, 0x110(s9)
    sw   a2, 0x114(s9)
    sw   a2, 0x118(s9)
    j    delay

tests:
    jal  delay
    // The PMP refuses.
    li   s11, 0x20000 // mstatus.MPRV
    li   t0, 0x1800 // mstatus.MPP
    csrc mstatus, t0
    li   t0, BUFFER >> 2
    csrw pmpaddr0, t0
    li   t0, 0x13 // the word may be read and written
    csrw pmpcfg0, t0
    li   s9, BUFFER
    ROW "5 denied lw"
    DENIED "lw a5, 8(s9)"
    ROW "5 denied lw, nothing between"
    DENIED "lw a5, 8(s9)", "lw a6, 16(s9)"
    ROW "5 denied lw, misaligned"
    DENIED "lw a5, 9(s9)"
    ROW "5 denied lh, misaligned"
    DENIED "lh a5, 11(s9)"
    ROW "5 misaligned lw, denied in the first word"
    DENIED "lw a5, -2(s9)"
    ROW "5 misaligned lw, denied in the second word"
    DENIED "lw a5, 2(s9)"
    ROW "5 allowed lw, 5 denied"
    DENIED "lw a5, 0(s9)", "lw a6, 8(s9)"
    ROW "5 denied lw, 5 allowed"
    DENIED "lw a5, 8(s9)", "lw a6, 0(s9)"
    ROW "5 denied sw"
    DENIED "sw a5, 8(s9)"
    ROW "5 denied sw, misaligned"
    DENIED "sw a5, 9(s9)"
    ROW "5 misaligned sw, denied in the first word"
    DENIED "sw a5, -2(s9)"
    ROW "5 misaligned sw, denied in the second word"
    DENIED "sw a5, 2(s9)"
    ROW "5 allowed sw, 5 denied"
    DENIED "sw a5, 0(s9)", "sw a6, 8(s9)"
    ROW "5 denied sb"
    DENIED "sb a5, 9(s9)"

    // There is no such register, or no such store; or a device with room for one request gets two.
    li   s9, UART
    ROW "5 lw from the UART, no such register"
    FIVE "lw a5, 0x34(s9)"
    ROW "5 sw to the UART, no such register"
    FIVE "sw a5, 0x3c(s9)"
    ROW "5 lw from the UART, the last register and beyond its address bits"
    FIVE "lw a5, 0x2c(s9)", "lw a5, 0x44(s9)"
    ROW "5 lw from the UART, misaligned"
    FIVE "lw a5, 2(s9)"
    li   s9, TIMER
    ROW "5 lw from the timer, no such register"
    FIVE "lw a5, 8(s9)"
    ROW "5 lw from the timer, misaligned"
    FIVE "lw a5, 0x105(s9)"
    li   s9, PLIC
    ROW "5 lw from the PLIC, no such register"
    FIVE "lw a5, 0x2f8(s9)"
    ROW "5 lw from the PLIC, misaligned"
    FIVE "lw a5, 0x32(s9)"
    li   s9, FLASH_CTRL
    ROW "5 lw from flash_ctrl, no such register"
    FIVE "lw a5, 0x178(s9)"
    li   s9, 0x20040000
    ROW "5 sw to flash"
    FIVE "sw a5, 0(s9)"
    ROW "5 sw to flash, lw from another word"
    FIVE "sw a5, 0(s9)", "lw a6, 64(s9)"
    ROW "5 sw to flash, misaligned"
    FIVE "sw a5, 2(s9)"
    ROW "5 lw from flash, sw to the same word"
    FIVE "lw a6, 128(s9)", "sw a5, 128(s9)"
    li   s9, 0x9000
    ROW "5 sw to ROM"
    FIVE "sw a5, 0(s9)"
    li   s9, 0x30000000
    ROW "5 lw from no device"
    FIVE "lw a5, 0(s9)"

    // The timer's line at the core.
    li   s9, TIMER
    li   s0, MTIP
    li   a2, 1
    li   a0, 0x10000 // no prescaler, a step of 1
    ROW "the timer expires at 0, 0 NOPs"
    EXPIRES 0, 0
    ROW "the timer expires at 0, 1 NOP"
    EXPIRES 0, 1
    ROW "the timer expires at 1, 0 NOPs"
    EXPIRES 1, 0
    ROW "the timer expires at 1, 3 NOPs"
    EXPIRES 1, 3
    ROW "the timer expires at 2, 5 NOPs"
    EXPIRES 2, 5
    ROW "the timer expires at 30, 0 NOPs"
    EXPIRES 30, 0
    ROW "the timer expires at 30, 1 NOP"
    EXPIRES 30, 1
    ROW "the timer expires at 30, 2 NOPs"
    EXPIRES 30, 2
    ROW "the timer expires at 30, 3 NOPs"
    EXPIRES 30, 3
    ROW "the timer expires at 30, 4 NOPs"
    EXPIRES 30, 4
    ROW "the timer expires at 30, 5 NOPs"
    EXPIRES 30, 5
    ROW "the timer expires at 30, 6 NOPs"
    EXPIRES 30, 6
    ROW "the timer expires at 30, 7 NOPs"
    EXPIRES 30, 7
    li   a0, 0x10006
    ROW "the timer expires at 9 of 7 clocks, 0 NOPs"
    EXPIRES 9, 0
    ROW "the timer expires at 9 of 7 clocks, 1 NOP"
    EXPIRES 9, 1
    ROW "the timer expires at 9 of 7 clocks, 2 NOPs"
    EXPIRES 9, 2
    ROW "the timer expires at 9 of 7 clocks, 3 NOPs"
    EXPIRES 9, 3

    // The time and the state as a read shows them, and the effect of a write on the line.
    li   a0, 0x10000
    ROW "the timer's registers show that it expired"
    li   a1, 30
    jal  arm
    IN_STEP
    sw   a2, 0(s9)
1:  lw   t2, 0x118(s9)
    beqz t2, 1b
    lw   t3, 0x104(s9)
    END
    ROW "that time"
    mv   s5, t3
    li   s4, 0
    li   s6, 0
    li   s7, 0
    jal  print
    ROW "a new comparator ends the interrupt"
    AFTER 0x110, bnez
    ROW "a test raises the interrupt"
    li   a1, -1
    jal  arm
    IN_STEP
    sw   a2, 0x11c(s9)
    POLL
    END
    ROW "and a write ends it"
    IN_STEP
    sw   a2, 0x118(s9)
    POLL bnez
    END
    ROW "a disabled interrupt is over"
    li   a1, 1
    jal  arm
    sw   a2, 0(s9)
    jal  delay
    IN_STEP
    sw   zero, 0x114(s9)
    POLL bnez
    END
    ROW "and comes again"
    IN_STEP
    sw   a2, 0x114(s9)
    POLL
    END
    ROW "20 reads of the line after an expired comparator is written again"
    li   t3, 0
    IN_STEP
    sw   a2, 0x10c(s9)
    .rept 20
    csrr t2, mip
    and  t2, t2, s0
    add  t3, t3, t2
    .endr
    END
    ROW "the reads that see it high"
    srli s5, t3, 7
    li   s4, 0
    li   s6, 0
    li   s7, 0
    jal  print

    // The same line behind the PLIC.
    li   s10, PLIC
    li   t1, 3
    sw   t1, 0x30 + 4 * TIMER_IRQ(s10)
    sw   t1, 0x30 + 4 * UART_IRQ(s10)
    li   t1, 1 << (TIMER_IRQ % 32)
    sw   t1, 0x300 + TIMER_IRQ / 32 * 4(s10)
    li   s0, 0x800 // MEIP
    li   a1, -1
    jal  arm
    lw   t3, 0x31c(s10)
    sw   t3, 0x31c(s10)
    ROW "the PLIC raises the timer's interrupt"
    EXPIRES 30, 0
    ROW "a claim ends it"
    IN_STEP
    lw   t3, 0x31c(s10)
    POLL bnez
    END
    ROW "its completion raises it again"
    IN_STEP
    sw   t3, 0x31c(s10)
    POLL
    END
    ROW "a threshold hides it"
    li   t4, 3
    IN_STEP
    sw   t4, 0x318(s10)
    POLL bnez
    END
    ROW "and a lower one does not"
    IN_STEP
    sw   zero, 0x318(s10)
    POLL
    END
    ROW "it stays although the timer has no interrupt any more"
    sw   zero, 0(s9)
    sw   a2, 0x118(s9)
    jal  delay
    IN_STEP
    POLL
    lw   t3, 0x31c(s10)
    POLL bnez
    END
    sw   t3, 0x31c(s10)
    sw   zero, 0x300 + TIMER_IRQ / 32 * 4(s10)
    li   s9, UART
    li   t1, 1 << UART_IRQ
    sw   t1, 0x300(s10)
    li   t3, 4 // tx_empty
    sw   t3, 4(s9)
    ROW "a test of the UART's interrupt"
    IN_STEP
    sw   t3, 8(s9)
    POLL
    END
    lw   t4, 0x31c(s10)
    sw   t3, 0(s9)
    jal  delay
    sw   t4, 0x31c(s10)
    sw   zero, 0x300(s10)

    // What the UART sends comes back to its receiver (system loopback).
.set LOOPS, 0x80000013 // a byte takes 1280 cycles; loopback, receiver and transmitter are on
.set RX_WATERMARK, 2
.set RX_TIMEOUT, 0x40

// clears the FIFOs and the state; the watermark is at the level of this number
.macro CLEAR watermark
    li   t1, 3 | \watermark << 2
    sw   t1, 0x1c(s9)
    li   t1, -1
    sw   t1, 0(s9)
.endm
// The chip's simulator prints them among the counts: they are white space to Python.
.macro SEND count
    li   t1, \count
1:  andi t2, t1, 3
    addi t2, t2, 0x1c
    sw   t2, 0x18(s9)
    addi t1, t1, -1
    bnez t1, 1b
.endm
.macro UNTIL_IDLE
    jal  delay
1:  lw   t2, 0x10(s9)
    andi t2, t2, 8
    beqz t2, 1b
    jal  delay
.endm
.macro VALUE
    mv   s5, t2
    li   s4, 0
    li   s6, 0
    li   s7, 0
    jal  print
.endm
// the bytes in the FIFO when rx_watermark is set
.macro LEVEL watermark
    CLEAR \watermark
    SEND 32
    li   t3, 5000
1:  addi t3, t3, -1
    beqz t3, 2f
    lw   t2, 0(s9)
    andi t2, t2, RX_WATERMARK
    beqz t2, 1b
2:  lw   t2, 0x20(s9)
    srli t2, t2, 16
    VALUE
    UNTIL_IDLE
.endm
// from the interrupt for a byte to the timeout, at the PLIC
.macro TIMEOUT bits
    li   t1, 0x80000000 + \bits
    sw   t1, 0x2c(s9)
    CLEAR 0
    li   t1, RX_WATERMARK
    sw   t1, 4(s9)
    li   t4, RX_TIMEOUT
    SEND 1
    POLL
    IN_STEP
    sw   t4, 4(s9)
    lw   t2, 0x31c(s10)
    sw   t2, 0x31c(s10)
    POLL bnez
    POLL
    END
    lw   t2, 0x31c(s10)
    sw   zero, 4(s9)
    sw   zero, 0x2c(s9)
    jal  delay
    sw   t2, 0x31c(s10)
.endm

    li   t1, LOOPS
    sw   t1, 0xc(s9)
    ROW "1 byte sent: the level of the receiving FIFO"
    CLEAR 0
    SEND 1
    UNTIL_IDLE
    lw   t2, 0x20(s9)
    srli t2, t2, 16
    VALUE
    ROW "the state of the interrupts"
    lw   t2, 0(s9)
    VALUE
    ROW "the byte"
    lw   t2, 0x14(s9)
    VALUE
    ROW "the status after it is read"
    lw   t2, 0x10(s9)
    VALUE
    ROW "watermark 0 is reached with these bytes"
    LEVEL 0
    ROW "watermark 1"
    LEVEL 1
    ROW "watermark 2"
    LEVEL 2
    ROW "watermark 3"
    LEVEL 3
    ROW "watermark 4"
    LEVEL 4
    ROW "watermark 5"
    LEVEL 5
    ROW "32 bytes: the status"
    lw   t2, 0x10(s9)
    VALUE
    ROW "32 bytes: the state of the interrupts"
    lw   t2, 0(s9)
    VALUE
    ROW "1 more: the state of the interrupts"
    SEND 1
    UNTIL_IDLE
    lw   t2, 0(s9)
    VALUE
    ROW "the level"
    lw   t2, 0x20(s9)
    srli t2, t2, 16
    VALUE
    ROW "the sum of the bytes"
    li   t2, 0
    li   t3, 40
1:  lw   t1, 0x14(s9)
    add  t2, t2, t1
    addi t3, t3, -1
    bnez t3, 1b
    VALUE
    li   t1, 1 << 2 | 1 << 7 // rx_watermark and rx_timeout
    sw   t1, 0x300(s10)
    li   t1, 3
    sw   t1, 0x30 + 4 * 2(s10)
    sw   t1, 0x30 + 4 * 7(s10)
    ROW "from a byte to the timeout of 3 bits"
    TIMEOUT 3
    ROW "from a byte to the timeout of 20 bits"
    TIMEOUT 20
    ROW "from a byte to the next"
    CLEAR 0
    li   t4, RX_WATERMARK
    sw   t4, 4(s9)
    SEND 2
    POLL
    IN_STEP
    lw   t2, 0x14(s9)
    sw   t4, 0(s9)
    lw   t2, 0x31c(s10)
    sw   t2, 0x31c(s10)
    POLL bnez
    POLL
    END
    lw   t2, 0x31c(s10)
    sw   zero, 4(s9)
    jal  delay
    sw   t2, 0x31c(s10)
    sw   zero, 0x300(s10)
    sw   zero, 0xc(s9)
    AGAIN_OR_DONE
