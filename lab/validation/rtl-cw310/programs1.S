# SPDX-License-Identifier: Apache-2.0 OR MIT
# Loops at every alignment, loads and stores of every kind, devices, traps, NOP sleds and twelve
# mixtures, each measured with the i-cache off and then on. The comment after a measurement is its name
# in expected.csv. A line has several instructions, since there would be thousands of lines otherwise.
.include "common.inc"
.include "mixed1.inc"

.macro THRICE function
    .rept 3
    la   s8, \function
    RUN
    .endr
.endm

.macro LOOP2 # of two compressed instructions
    .option push
    .option rvc
1:  c.addi s0, -1
    c.bnez s0, 1b
    .option pop
.endm

.macro RAM
    li   s9, 0x10001000
    li   s10, 0x10001100
.endm

    ALIGN8; .option rvc; .rept 4096; c.nop; .endr
s2end:
    c.jr ra; .option norvc; ALIGN8; .rept 2048; nop; .endr
s4end:
    ret; ALIGN8
jumps:
    .rept 64; j 1f; nop; nop; nop; 1:; .endr; ret; ALIGN8
fn:
    ret
tests:
    fence.i; jal delay; BEGIN; END # null
    BEGIN; END # null again
    li s0, 1000; BEGIN; LOOP2; END # loop c.addi/c.bnez x1000 @0
    li s0, 1000; ALIGN8; PAD 1; MARK; LOOP2; END # loop c.addi/c.bnez x1000 @2
    li s0, 1000; ALIGN8; PAD 2; MARK; LOOP2; END # loop c.addi/c.bnez x1000 @4
    li s0, 1000; ALIGN8; PAD 3; MARK; LOOP2; END # loop c.addi/c.bnez x1000 @6
    li s0, 1000; BEGIN; 1: addi s0, s0, -1; bnez s0, 1b; END # loop addi/bnez 4B x1000 @0
    li s0, 1000; ALIGN8; PAD 2; MARK; 1: addi s0, s0, -1; bnez s0, 1b
    END # loop addi/bnez 4B x1000 @4
    li s0, 1000; BEGIN; 1: addi s0, s0, -1; bnez zero, 2f; bnez s0, 1b; 2:
    END # loop not-taken+taken x1000
    la s8, jumps; RUN # self jump chain, 16B apart x64 cold
    RUN # jump chain warm
    fence.i; jal delay; THRICE s2end-1024 # nop2 1K: cold, warm, warm2
    fence.i; jal delay; THRICE s2end-2048 # nop2 2K: cold, warm, warm2
    fence.i; jal delay; THRICE s2end-3072 # nop2 3K: cold, warm, warm2
    fence.i; jal delay; THRICE s2end-4096 # nop2 4K: cold, warm, warm2
    fence.i; jal delay; THRICE s2end-5120 # nop2 5K: cold, warm, warm2
    fence.i; jal delay; THRICE s2end-6144 # nop2 6K: cold, warm, warm2
    fence.i; jal delay; THRICE s2end-8192 # nop2 8K: cold, warm, warm2
    fence.i; jal delay; THRICE s4end-1024 # nop4 1K: cold, warm, warm2
    fence.i; jal delay; THRICE s4end-2048 # nop4 2K: cold, warm, warm2
    fence.i; jal delay; THRICE s4end-3072 # nop4 3K: cold, warm, warm2
    fence.i; jal delay; THRICE s4end-4096 # nop4 4K: cold, warm, warm2
    fence.i; jal delay; THRICE s4end-5120 # nop4 5K: cold, warm, warm2
    fence.i; jal delay; THRICE s4end-6144 # nop4 6K: cold, warm, warm2
    fence.i; jal delay; THRICE s4end-8192 # nop4 8K: cold, warm, warm2
    fence.i; jal delay; la s8, fn; li s0, 100; BEGIN; 1: jalr s8; addi s0, s0, -1; bnez s0, 1b
    END # call/ret x100
    RAM; BEGIN; .rept 100; lw a5, 0(s9); .endr; END # lw ram x100
    RAM; sw s9, 0(s9); BEGIN; .rept 100; lw s9, 0(s9); .endr; END # lw dep x100
    RAM; BEGIN; .rept 50; lw a5, 0(s9); addi a5, a5, 1; .endr; END # lw+use x50
    RAM; BEGIN; .rept 50; lw a5, 1(s9); .endr; END # lw misaligned x50
    RAM; sw s9, 0(s9); li s0, 200; BEGIN; 1: lw s9, 0(s9); addi s0, s0, -1; bnez s0, 1b
    END # lw dep loop x200
    RAM; li a6, 499; 1: addi a7, s9, 16; sw a7, 0(s9); mv s9, a7; addi a6, a6, -1; bnez a6, 1b
    sw zero, 0(s9); RAM; BEGIN; 1: lw s9, 0(s9); bnez s9, 1b; END # list 500
    RAM; BEGIN; .rept 100; sw a5, 0(s9); .endr; END # sw x100
    RAM; BEGIN; .rept 100; sb a5, 0(s9); .endr; END # sb x100
    RAM; BEGIN; .rept 100; sh a5, 2(s9); .endr; END # sh x100
    RAM; BEGIN; .rept 50; sw a5, 0(s9); lw a6, 4(s9); .endr; END # sw,lw x50
    RAM; BEGIN; .rept 50; sb a5, 1(s9); lw a6, 0(s9); .endr; END # sb,lw same x50
    RAM; BEGIN; .rept 50; sb a5, 1(s9); lw a6, 64(s9); .endr; END # sb,lw other x50
    RAM; BEGIN; .rept 50; sb a5, 1(s9); lbu a6, 1(s9); .endr; END # sb,lbu same x50
    RAM; BEGIN; .rept 50; lw a6, 0(s9); sb a5, 1(s9); .endr; END # lw,sb x50
    RAM; BEGIN; .rept 50; sb a5, 1(s9); sw a5, 8(s9); .endr; END # sb,sw x50
    RAM; BEGIN; .rept 50; sb a5, 1(s9); nop; .endr; END # sb,nop x50
    RAM; BEGIN; .rept 50; sb a5, 1(s9); .rept 4; nop; .endr; .endr; END # sb,4nop x50
    RAM; BEGIN; .rept 50; sw a5, 1(s9); .endr; END # sw misaligned x50
    RAM; li s0, 200; BEGIN; 1: sb a5, 1(s9); addi s0, s0, -1; bnez s0, 1b; END # sb loop x200
    RAM; li s0, 200; BEGIN; 1: sb a5, 1(s9); lw a6, 0(s9); addi s0, s0, -1; bnez s0, 1b
    END # sb,lw loop x200
    RAM; li s0, 200; BEGIN; 1: lw a6, 0(s9); sb a5, 1(s9); lw a6, 4(s9); sw a5, 8(s9)
    addi s0, s0, -1; bnez s0, 1b; END # lw,sb,lw,sw loop x200
    RAM; BEGIN; lw a5, 0(s9); lw a6, 4(s9); lw a7, 8(s9); lw t1, 12(s9); lw t3, 16(s9)
    lw t4, 20(s9); lw t5, 24(s9); lw t6, 28(s9); sw a5, 0(s10); sw a6, 4(s10); sw a7, 8(s10)
    sw t1, 12(s10); sw t3, 16(s10); sw t4, 20(s10); sw t5, 24(s10); sw t6, 28(s10); END # memcpy32
    RAM; li s0, 64; BEGIN; 1: lbu a5, 0(s9); sb a5, 0(s10); addi s9, s9, 1; addi s10, s10, 1
    addi s0, s0, -1; bnez s0, 1b; END # bytecopy 64 loop
    li s9, 0x20040000; li s8, 0x20041000; BEGIN; 1:; LOADS 16, 0, 4; addi s9, s9, 64
    bltu s9, s8, 1b; END # flash seq 64B loop x64 @0
    li s9, 0x20040000; li s0, 64; BEGIN; 1:; .rept 16; lw a5, 0(s9); .endr; addi s0, s0, -1
    bnez s0, 1b; END # flash same word loop x64(16) @0
    li s9, 0x20040000; li s8, 0x20042000; BEGIN; 1:; LOADS 16, 0, 8; addi s9, s9, 128
    bltu s9, s8, 1b; END # flash stride 8 loop 16x64 @0
    li s9, 0x20040000; li s8, 0x20041000; ALIGN8; PAD 2; MARK; 1:; LOADS 16, 0, 4
    addi s9, s9, 64; bltu s9, s8, 1b; END # flash seq 64B loop x64 @4
    li s9, 0x20040000; li s0, 64; ALIGN8; PAD 2; MARK; 1:; .rept 16; lw a5, 0(s9); .endr
    addi s0, s0, -1; bnez s0, 1b; END # flash same word loop x64(16) @4
    li s9, 0x20040000; li s8, 0x20042000; ALIGN8; PAD 2; MARK; 1:; LOADS 16, 0, 8
    addi s9, s9, 128; bltu s9, s8, 1b; END # flash stride 8 loop 16x64 @4
    li s9, 0x20080000; li s8, 0x20081000; BEGIN; 1:; LOADS 16, 0, 4; addi s9, s9, 64
    bltu s9, s8, 1b; END # flash seq bank1 x64
    li s9, 0x20040000; li s10, 0x1000; li s0, 60; BEGIN; 1: lw a5, 0(s9); add s9, s9, s10
    addi s0, s0, -1; bnez s0, 1b; END # flash far 4K loop
    li s9, 0x20040000; li s10, 0x20080000; li s0, 100; BEGIN; 1: lw a5, 0(s9); lw a6, 0(s10)
    addi s9, s9, 8; addi s10, s10, 8; addi s0, s0, -1; bnez s0, 1b; END # flash alternate banks
    li s9, 0x20040000; li s0, 200; BEGIN; 1: lw a5, 0(s9); andi a5, a5, 4; add s9, s9, a5
    addi s9, s9, 4; addi s0, s0, -1; bnez s0, 1b; END # flash lw dep-use loop
    fence.i; jal delay; li s9, 0x20040000; BEGIN; LOADS 100, 0, 4; END # flash lw straight x100 seq
    li s9, 0x20040000; BEGIN; .rept 100; lw a5, 0(s9); .endr; END # flash lw straight x100 same
    li s9, 0x20040000; BEGIN; LOADS 100, 0, 16; END # flash lw straight x100 far
    li s9, 0x20040000; BEGIN; lw a5, 0(s9); nop; nop; nop; lw a5, 24(s9); nop; nop; nop
    lw a5, 48(s9); nop; nop; nop; lw a5, 72(s9); nop; nop; nop; lw a5, 96(s9); nop; nop; nop
    lw a5, 120(s9); nop; nop; nop; lw a5, 144(s9); nop; nop; nop; lw a5, 168(s9); nop; nop; nop
    lw a5, 192(s9); nop; nop; nop; lw a5, 216(s9); nop; nop; nop; lw a5, 240(s9); nop; nop; nop
    lw a5, 264(s9); nop; nop; nop; lw a5, 288(s9); nop; nop; nop; lw a5, 312(s9); nop; nop; nop
    lw a5, 336(s9); nop; nop; nop; lw a5, 360(s9); nop; nop; nop; lw a5, 384(s9); nop; nop; nop
    lw a5, 408(s9); nop; nop; nop; lw a5, 432(s9); nop; nop; nop; lw a5, 456(s9); nop; nop; nop
    lw a5, 480(s9); nop; nop; nop; lw a5, 504(s9); nop; nop; nop; lw a5, 528(s9); nop; nop; nop
    lw a5, 552(s9); nop; nop; nop; lw a5, 576(s9); nop; nop; nop; lw a5, 600(s9); nop; nop; nop
    lw a5, 624(s9); nop; nop; nop; lw a5, 648(s9); nop; nop; nop; lw a5, 672(s9); nop; nop; nop
    lw a5, 696(s9); nop; nop; nop; lw a5, 720(s9); nop; nop; nop; lw a5, 744(s9); nop; nop; nop
    lw a5, 768(s9); nop; nop; nop; lw a5, 792(s9); nop; nop; nop; lw a5, 816(s9); nop; nop; nop
    lw a5, 840(s9); nop; nop; nop; lw a5, 864(s9); nop; nop; nop; lw a5, 888(s9); nop; nop; nop
    lw a5, 912(s9); nop; nop; nop; lw a5, 936(s9); nop; nop; nop; lw a5, 960(s9); nop; nop; nop
    lw a5, 984(s9); nop; nop; nop; lw a5, 1008(s9); nop; nop; nop; lw a5, 1032(s9); nop; nop; nop
    lw a5, 1056(s9); nop; nop; nop; lw a5, 1080(s9); nop; nop; nop; lw a5, 1104(s9); nop; nop
    nop; lw a5, 1128(s9); nop; nop; nop; lw a5, 1152(s9); nop; nop; nop; lw a5, 1176(s9); nop
    nop; nop; lw a5, 1200(s9); nop; nop; nop; lw a5, 1224(s9); nop; nop; nop; lw a5, 1248(s9)
    nop; nop; nop; lw a5, 1272(s9); nop; nop; nop; lw a5, 1296(s9); nop; nop; nop
    lw a5, 1320(s9); nop; nop; nop; lw a5, 1344(s9); nop; nop; nop; lw a5, 1368(s9); nop; nop
    nop; lw a5, 1392(s9); nop; nop; nop; lw a5, 1416(s9); nop; nop; nop
    END # flash lw+3nop straight x60 far
    li s9, 0x20080000; BEGIN; lw a5, 0(s9); nop; nop; nop; lw a5, 24(s9); nop; nop; nop
    lw a5, 48(s9); nop; nop; nop; lw a5, 72(s9); nop; nop; nop; lw a5, 96(s9); nop; nop; nop
    lw a5, 120(s9); nop; nop; nop; lw a5, 144(s9); nop; nop; nop; lw a5, 168(s9); nop; nop; nop
    lw a5, 192(s9); nop; nop; nop; lw a5, 216(s9); nop; nop; nop; lw a5, 240(s9); nop; nop; nop
    lw a5, 264(s9); nop; nop; nop; lw a5, 288(s9); nop; nop; nop; lw a5, 312(s9); nop; nop; nop
    lw a5, 336(s9); nop; nop; nop; lw a5, 360(s9); nop; nop; nop; lw a5, 384(s9); nop; nop; nop
    lw a5, 408(s9); nop; nop; nop; lw a5, 432(s9); nop; nop; nop; lw a5, 456(s9); nop; nop; nop
    lw a5, 480(s9); nop; nop; nop; lw a5, 504(s9); nop; nop; nop; lw a5, 528(s9); nop; nop; nop
    lw a5, 552(s9); nop; nop; nop; lw a5, 576(s9); nop; nop; nop; lw a5, 600(s9); nop; nop; nop
    lw a5, 624(s9); nop; nop; nop; lw a5, 648(s9); nop; nop; nop; lw a5, 672(s9); nop; nop; nop
    lw a5, 696(s9); nop; nop; nop; lw a5, 720(s9); nop; nop; nop; lw a5, 744(s9); nop; nop; nop
    lw a5, 768(s9); nop; nop; nop; lw a5, 792(s9); nop; nop; nop; lw a5, 816(s9); nop; nop; nop
    lw a5, 840(s9); nop; nop; nop; lw a5, 864(s9); nop; nop; nop; lw a5, 888(s9); nop; nop; nop
    lw a5, 912(s9); nop; nop; nop; lw a5, 936(s9); nop; nop; nop; lw a5, 960(s9); nop; nop; nop
    lw a5, 984(s9); nop; nop; nop; lw a5, 1008(s9); nop; nop; nop; lw a5, 1032(s9); nop; nop; nop
    lw a5, 1056(s9); nop; nop; nop; lw a5, 1080(s9); nop; nop; nop; lw a5, 1104(s9); nop; nop
    nop; lw a5, 1128(s9); nop; nop; nop; lw a5, 1152(s9); nop; nop; nop; lw a5, 1176(s9); nop
    nop; nop; lw a5, 1200(s9); nop; nop; nop; lw a5, 1224(s9); nop; nop; nop; lw a5, 1248(s9)
    nop; nop; nop; lw a5, 1272(s9); nop; nop; nop; lw a5, 1296(s9); nop; nop; nop
    lw a5, 1320(s9); nop; nop; nop; lw a5, 1344(s9); nop; nop; nop; lw a5, 1368(s9); nop; nop
    nop; lw a5, 1392(s9); nop; nop; nop; lw a5, 1416(s9); nop; nop; nop
    END # flash lw+3nop straight x60 bank1
    li s9, 0x20040000; li s10, 0x10001000; BEGIN; .rept 50; lw a5, 0(s9); lw a6, 0(s10); .endr
    END # flash/ram alternate lw x50
    BEGIN; .rept 100; csrr a5, mscratch; .endr; END # csrr mscratch x100
    BEGIN; .rept 100; csrw mscratch, a5; .endr; END # csrw mscratch x100
    BEGIN; .rept 100; csrr a5, mcycle; .endr; END # csrr mcycle x100
    BEGIN; .rept 20; csrw pmpaddr15, zero; .endr; END # csrrw pmpaddr15 x20
    BEGIN; .rept 20; ecall; .endr; END # ecall/mret x20
    li s0, 50; BEGIN; 1: ecall; addi s0, s0, -1; bnez s0, 1b; END # ecall/mret loop x50
    addi sp, sp, -128; BEGIN; sw x1, 4(sp); sw x2, 8(sp); sw x3, 12(sp); sw x4, 16(sp)
    sw x5, 20(sp); sw x6, 24(sp); sw x7, 28(sp); sw x8, 32(sp); sw x9, 36(sp); sw x10, 40(sp)
    sw x11, 44(sp); sw x12, 48(sp); sw x13, 52(sp); sw x14, 56(sp); sw x15, 60(sp)
    sw x16, 64(sp); sw x17, 68(sp); sw x18, 72(sp); sw x19, 76(sp); sw x20, 80(sp)
    sw x21, 84(sp); sw x22, 88(sp); sw x23, 92(sp); sw x24, 96(sp); sw x25, 100(sp)
    sw x26, 104(sp); sw x27, 108(sp); sw x28, 112(sp); sw x29, 116(sp); sw x30, 120(sp)
    sw x31, 124(sp); lw x1, 4(sp); lw x2, 8(sp); lw x3, 12(sp); lw x4, 16(sp); lw x5, 20(sp)
    lw x6, 24(sp); lw x7, 28(sp); lw x8, 32(sp); lw x9, 36(sp); lw x10, 40(sp); lw x11, 44(sp)
    lw x12, 48(sp); lw x13, 52(sp); lw x14, 56(sp); lw x15, 60(sp); lw x16, 64(sp)
    lw x17, 68(sp); lw x18, 72(sp); lw x19, 76(sp); lw x20, 80(sp); lw x21, 84(sp)
    lw x22, 88(sp); lw x23, 92(sp); lw x24, 96(sp); lw x25, 100(sp); lw x26, 104(sp)
    lw x27, 108(sp); lw x28, 112(sp); lw x29, 116(sp); lw x30, 120(sp); lw x31, 124(sp)
    END # 31sw+31lw
    addi sp, sp, 128; addi sp, sp, -128; li s0, 10; BEGIN; 1:; sw x1, 4(sp); sw x2, 8(sp)
    sw x3, 12(sp); sw x4, 16(sp); sw x5, 20(sp); sw x6, 24(sp); sw x7, 28(sp); sw x8, 32(sp)
    sw x9, 36(sp); sw x10, 40(sp); sw x11, 44(sp); sw x12, 48(sp); sw x13, 52(sp); sw x14, 56(sp)
    sw x15, 60(sp); sw x16, 64(sp); sw x17, 68(sp); sw x18, 72(sp); sw x19, 76(sp)
    sw x20, 80(sp); sw x21, 84(sp); sw x22, 88(sp); sw x23, 92(sp); sw x24, 96(sp)
    sw x25, 100(sp); sw x26, 104(sp); sw x27, 108(sp); sw x28, 112(sp); sw x29, 116(sp)
    sw x30, 120(sp); sw x31, 124(sp); lw x1, 4(sp); lw x2, 8(sp); lw x3, 12(sp); lw x4, 16(sp)
    lw x5, 20(sp); lw x6, 24(sp); lw x7, 28(sp); lw x8, 32(sp); lw x9, 36(sp); lw x10, 40(sp)
    lw x11, 44(sp); lw x12, 48(sp); lw x13, 52(sp); lw x14, 56(sp); lw x15, 60(sp)
    lw x16, 64(sp); lw x17, 68(sp); lw x18, 72(sp); lw x19, 76(sp); lw x20, 80(sp)
    lw x21, 84(sp); lw x22, 88(sp); lw x23, 92(sp); lw x24, 96(sp); lw x25, 100(sp)
    lw x26, 104(sp); lw x27, 108(sp); lw x28, 112(sp); lw x29, 116(sp); lw x30, 120(sp)
    lw x31, 124(sp); addi s0, s0, -1; sw s0, 32(sp); bnez s0, 1b; END # 31sw+31lw loop x10
    addi sp, sp, 128; BEGIN; .rept 100; mul a5, a6, a7; .endr; END # mul x100
    BEGIN; .rept 20; div a5, a6, a7; .endr; END # div x20
    BEGIN; .rept 50; mulh a5, a6, a7; .endr; END # mulh x50
    li s9, PLIC; BEGIN; .rept 20; lw a5, 0(s9); .endr; END # plic lw x20
    li s9, PLIC; BEGIN; .rept 20; sw a5, 8(s9); .endr; END # plic sw x20
    li s9, PLIC; li s10, 0x10001000; BEGIN; .rept 20; lw a5, 0(s9); lw a6, 0(s10); .endr
    END # plic lw, ram lw x20
    li s9, 0x40000000; BEGIN; .rept 20; lw a5, 0(s9); .endr; END # uart lw x20
    li s9, 0x40000000; BEGIN; .rept 20; lw a5, 0(s9); .rept 7; nop; .endr; .endr
    END # uart lw+7nop x20
    li s9, 0x40000000; BEGIN; .rept 20; sw a5, 8(s9); .endr; END # uart sw x20
    li s9, 0x40000000; li s10, 0x40100000; BEGIN; .rept 10; lw a5, 0(s9); lw a6, 0(s10); .endr
    END # timer lw,uart lw x10
    BEGIN; .rept 10; fence; .endr; END # fence x10
    BEGIN; fence.i; END # fence.i
    jal delay; la s8, s4end-4800; BEGIN; fence.i; jalr s8; END # fence.i +1200 nop4
    jal delay; RAM; BEGIN; .rept 8; sb a5, 1(s9); sb a5, 5(s10); .endr
    END # wfi-free lr: 8 sb far apart
    fence.i; jal delay; li s9, 0x10001000; li s10, 0x20040000; li s3, 0x20080000; li a0, 0; j 1f
    ALIGN8
    MIXED0
    ALIGN8; 1:; THRICE mixed0 # mixed0 (100): cold, warm, warm2
    fence.i; jal delay; li s9, 0x10001000; li s10, 0x20040000; li s3, 0x20080000; li a0, 0; j 1f
    ALIGN8
    MIXED1
    ALIGN8; 1:; THRICE mixed1 # mixed1 (250): cold, warm, warm2
    fence.i; jal delay; li s9, 0x10001000; li s10, 0x20040000; li s3, 0x20080000; li a0, 0; j 1f
    ALIGN8
    MIXED2
    ALIGN8; 1:; THRICE mixed2 # mixed2 (500): cold, warm, warm2
    fence.i; jal delay; li s9, 0x10001000; li s10, 0x20040000; li s3, 0x20080000; li a0, 0; j 1f
    ALIGN8
    MIXED3
    ALIGN8; 1:; THRICE mixed3 # mixed3 (900): cold, warm, warm2
    fence.i; jal delay; li s9, 0x10001000; li s10, 0x20040000; li s3, 0x20080000; li a0, 0; j 1f
    ALIGN8
    MIXED4
    ALIGN8; 1:; THRICE mixed4 # mixed4 (100): cold, warm, warm2
    fence.i; jal delay; li s9, 0x10001000; li s10, 0x20040000; li s3, 0x20080000; li a0, 0; j 1f
    ALIGN8
    MIXED5
    ALIGN8; 1:; THRICE mixed5 # mixed5 (250): cold, warm, warm2
    fence.i; jal delay; li s9, 0x10001000; li s10, 0x20040000; li s3, 0x20080000; li a0, 0; j 1f
    ALIGN8
    MIXED6
    ALIGN8; 1:; THRICE mixed6 # mixed6 (500): cold, warm, warm2
    fence.i; jal delay; li s9, 0x10001000; li s10, 0x20040000; li s3, 0x20080000; li a0, 0; j 1f
    ALIGN8
    MIXED7
    ALIGN8; 1:; THRICE mixed7 # mixed7 (900): cold, warm, warm2
    fence.i; jal delay; li s9, 0x10001000; li s10, 0x20040000; li s3, 0x20080000; li a0, 0; j 1f
    ALIGN8
    MIXED8
    ALIGN8; 1:; THRICE mixed8 # mixed8 (100): cold, warm, warm2
    fence.i; jal delay; li s9, 0x10001000; li s10, 0x20040000; li s3, 0x20080000; li a0, 0; j 1f
    ALIGN8
    MIXED9
    ALIGN8; 1:; THRICE mixed9 # mixed9 (250): cold, warm, warm2
    fence.i; jal delay; li s9, 0x10001000; li s10, 0x20040000; li s3, 0x20080000; li a0, 0; j 1f
    ALIGN8
    MIXED10
    ALIGN8; 1:; THRICE mixed10 # mixed10 (500): cold, warm, warm2
    fence.i; jal delay; li s9, 0x10001000; li s10, 0x20040000; li s3, 0x20080000; li a0, 0; j 1f
    ALIGN8
    MIXED11
    ALIGN8; 1:; THRICE mixed11 # mixed11 (900): cold, warm, warm2
    AGAIN_OR_DONE
    ALIGN8
