// SPDX-License-Identifier: Apache-2.0 OR MIT
// The same code in flash, ROM and RAM, measured twice in each, with the i-cache off and then on. The
// block between blk0 and blkend must also be in ROM, at 0x8100; the program copies it to RAM. The
// comment after a line is the common part of its six names in expected.csv.
.include "common.inc"
.include "mixed2.inc"

.macro IN where
    la   t1, blk0
    sub  s8, s8, t1
    li   t1, \where
    add  s8, s8, t1
.endm

#define TWICE(go_there, function, ...)                                                             \
    .rept 2; __VA_ARGS__; la s8, function; go_there; RUN; .endr
#ifdef SMALL_ROM // the block does not fit
#define IN_ROM(...)
#else
#define IN_ROM(...) TWICE(__VA_ARGS__)
#endif
#define EACH(function, ...)                                                                        \
    TWICE(, function, __VA_ARGS__);                                                                \
    IN_ROM(IN 0x00008100, function, __VA_ARGS__);                                                  \
    TWICE(IN 0x10010000, function, __VA_ARGS__)

    ALIGN8; ALIGN8
copyfn:
    la t0, blk0; la t1, blkend; li t2, 0x10010000; 1: lw t3, 0(t0); sw t3, 0(t2); addi t0, t0, 4
    addi t2, t2, 4; bltu t0, t1, 1b; ret
tests:
    jal copyfn; fence.i; jal delay
    EACH(f0, ) // ret
    EACH(f1, ) // nop4 x256
    EACH(f2, ) // nop2 x256
    EACH(f3, li s0, 200) // loop c x200
    EACH(f4, ) // jump chain x32
    EACH(f5, li s9, 0x10001000; li s10, 0x10001100) // ram lw x60
    EACH(f6, li s9, 0x10001000; li s10, 0x10001100) // ram sw x60
    EACH(f7, li s9, 0x10001000; li s10, 0x10001100) // ram sb x60
    EACH(f8, li s9, 0x10001000; li s10, 0x10001100) // ram sb,nop3 x40
    EACH(f9, li s9, 0x10001000; li s10, 0x10001100) // ram sb,lw x40
    EACH(f10, li s9, 0x10001000; li s10, 0x10001100) // ram lw,nop x40
    EACH(f11, li s9, 0x10001000; li s10, 0x10001100; li s0, 100) // ram sb loop x100
    EACH(f12, li s9, 0x9000) // rom lw x60
    EACH(f13, li s9, 0x9000; li s0, 30) // rom lw loop x64
    EACH(f14, li s9, 0x9000; li s10, 0x10001000) // rom lw,ram lw x40
    EACH(f15, li s9, 0x9000; li s10, 0x20040000) // rom lw,flash lw x40
    EACH(f16, li s9, 0x20040000) // flash lw x60 seq
    EACH(f17, li s9, 0x20040000) // flash lw x60 far
    EACH(f18, li s9, 0x20040000) // flash lw x60 same
    EACH(f19, li s9, 0x20040000; li s10, 0x20080000) // flash bank0/1 x40
    EACH(f20, li s9, 0x20040000; li s10, 0x10001000) // flash lw,ram lw x40
    EACH(f21, li s9, PLIC) // plic lw,sw,nop x10
    EACH(f22, li s9, PLIC; li s10, 0x41000000) // plic,flashctrl x10
    EACH(f23, li s9, 0x10001000; li s10, 0x20040000; li s3, 0x20080000; li t5, 0x9000; li t6, PLIC) // mix0
    EACH(f24, li s9, 0x10001000; li s10, 0x20040000; li s3, 0x20080000; li t5, 0x9000; li t6, PLIC) // mix1
    EACH(f25, li s9, 0x10001000; li s10, 0x20040000; li s3, 0x20080000; li t5, 0x9000; li t6, PLIC) // mix2
    EACH(f26, li s9, 0x10001000; li s10, 0x20040000; li s3, 0x20080000; li t5, 0x9000; li t6, PLIC) // mix3
    EACH(f27, li s9, 0x10001000; li s10, 0x20040000; li s3, 0x20080000; li t5, 0x9000; li t6, PLIC) // mix4
    EACH(f28, li s9, 0x10001000; li s10, 0x20040000; li s3, 0x20080000; li t5, 0x9000; li t6, PLIC) // mix5
    EACH(f29, li s9, 0x10001000; li s10, 0x20040000; li s3, 0x20080000; li t5, 0x9000; li t6, PLIC) // mix6
    EACH(f30, li s9, 0x10001000; li s10, 0x20040000; li s3, 0x20080000; li t5, 0x9000; li t6, PLIC) // mix7
    AGAIN_OR_DONE
    ALIGN8
blk0:
    ALIGN8
f0:
    mv s2, ra; jr s2; ALIGN8
f1:
    mv s2, ra; .rept 256; nop; .endr; jr s2; ALIGN8
f2:
    mv s2, ra; PAD 256; jr s2; ALIGN8
f3:
    mv s2, ra; .option rvc; 1: c.addi s0, -1; c.bnez s0, 1b; .option norvc; jr s2; ALIGN8
f4:
    mv s2, ra; .rept 32; j 1f; nop; nop; nop; 1:; .endr; jr s2; ALIGN8
f5:
    mv s2, ra; .rept 60; lw a5, 0(s9); .endr; jr s2; ALIGN8
f6:
    mv s2, ra; .rept 60; sw a5, 0(s9); .endr; jr s2; ALIGN8
f7:
    mv s2, ra; .rept 60; sb a5, 1(s9); .endr; jr s2; ALIGN8
f8:
    mv s2, ra; .rept 40; sb a5, 1(s9); nop; nop; nop; .endr; jr s2; ALIGN8
f9:
    mv s2, ra; .rept 40; sb a5, 1(s9); lw a6, 0(s9); .endr; jr s2; ALIGN8
f10:
    mv s2, ra; .rept 40; lw a5, 1(s9); nop; .endr; jr s2; ALIGN8
f11:
    mv s2, ra; 1: sb a5, 1(s9); addi s0, s0, -1; bnez s0, 1b; jr s2; ALIGN8
f12:
    mv s2, ra; .rept 60; lw a5, 0(s9); .endr; jr s2; ALIGN8
f13:
    mv s2, ra; 1:; .rept 8; lw a5, 0(s9); lw a5, 4(s9); .endr; addi s0, s0, -1; bnez s0, 1b
    jr s2; ALIGN8
f14:
    mv s2, ra; .rept 40; lw a5, 0(s9); lw a6, 0(s10); .endr; jr s2; ALIGN8
f15:
    mv s2, ra; .rept 40; lw a5, 0(s9); lw a6, 0(s10); .endr; jr s2; ALIGN8
f16:
    mv s2, ra; LOADS 60, 0, 4; jr s2; ALIGN8
f17:
    mv s2, ra; LOADS 60, 0, 16; jr s2; ALIGN8
f18:
    mv s2, ra; .rept 60; lw a5, 0(s9); .endr; jr s2; ALIGN8
f19:
    mv s2, ra; .rept 40; lw a5, 0(s9); lw a6, 8(s10); .endr; jr s2; ALIGN8
f20:
    mv s2, ra; .rept 40; lw a5, 0(s9); lw a6, 0(s10); .endr; jr s2; ALIGN8
f21:
    mv s2, ra; .rept 10; lw a5, 0(s9); sw a5, 8(s9); nop; sw a5, 8(s9); sw a5, 8(s9)
    lw a5, 4(s9); addi a5, a5, 1; .endr; jr s2; ALIGN8
f22:
    mv s2, ra; .rept 10; lw a5, 0(s9); sw a5, 0(s10); sw a5, 8(s9); lw a5, 0(s10); .endr; jr s2
    ALIGN8
    MIXED23
    ALIGN8
    MIXED24
    ALIGN8
    MIXED25
    ALIGN8
    MIXED26
    ALIGN8
    MIXED27
    ALIGN8
    MIXED28
    ALIGN8
    MIXED29
    ALIGN8
    MIXED30
    ALIGN8
blkend:
    nop
