# SPDX-License-Identifier: Apache-2.0 OR MIT
#
# The path into the kernel and back: system calls, interrupts, faults.
#
# A process's registers are saved in a frame of 32 words: register xN at word N, the program counter at
# word 0. While a process runs, mscratch holds the address of its frame. The kernel keeps it there, so
# that a trap in the kernel (a bug) also has a frame to save to.
#
# On entry, only registers that Rust may overwrite are saved. Rust preserves s0 to s11, and uses neither
# gp nor tp, so these still have the process's values on the way out. They are saved and loaded only when
# another process runs next. A system call does not save a0 to a3: the kernel writes its result to their
# words in the frame. The PMP is not written here, but in Rust, before another process runs (kernel.rs).

    .section .text.trap, "ax"

    .macro each_temporary op    # registers that Rust may overwrite, except t0, sp and the arguments
    \op   ra,  4*1(sp)
    \op   t1,  4*6(sp)
    \op   t2,  4*7(sp)
    \op   a4,  4*14(sp)
    \op   a5,  4*15(sp)
    \op   a6,  4*16(sp)
    \op   a7,  4*17(sp)
    \op   t3,  4*28(sp)
    \op   t4,  4*29(sp)
    \op   t5,  4*30(sp)
    \op   t6,  4*31(sp)
    .endm

    .macro each_argument op
    \op   a0,  4*10(sp)
    \op   a1,  4*11(sp)
    \op   a2,  4*12(sp)
    \op   a3,  4*13(sp)
    .endm

    .macro each_kept op, frame  # registers that Rust preserves or does not use
    \op   gp,  4*3(\frame)
    \op   tp,  4*4(\frame)
    \op   s0,  4*8(\frame)
    \op   s1,  4*9(\frame)
    \op   s2,  4*18(\frame)
    \op   s3,  4*19(\frame)
    \op   s4,  4*20(\frame)
    \op   s5,  4*21(\frame)
    \op   s6,  4*22(\frame)
    \op   s7,  4*23(\frame)
    \op   s8,  4*24(\frame)
    \op   s9,  4*25(\frame)
    \op   s10, 4*26(\frame)
    \op   s11, 4*27(\frame)
    .endm

    .macro to_frame             # sp becomes the frame; the process's t0 and sp are saved in it
    csrrw sp, mscratch, sp
    sw    t0, 4*5(sp)
    csrr  t0, mscratch
    sw    t0, 4*2(sp)
    csrw  mscratch, sp
    .endm

    # Exceptions enter at the first word, interrupt N at word N.
    .balign 256
    .global trap_vector
trap_vector:
    .option push
    .option norvc
    j     exception
    .rept 31
    j     interrupt
    .endr
    .option pop

    .balign 8
exception:
    to_frame
    each_temporary sw
    csrr  t0, mcause
    addi  t0, t0, -8            # a system call from user mode
    bnez  t0, fault
    csrr  t0, mepc
    addi  t0, t0, 4             # continue after the ecall
    sw    t0, 4*0(sp)
    mv    a5, sp
    la    sp, _stack_top
    call  on_system_call        # (a0, a1, a2, a3, class in a4, frame)

resume:                         # a0: the frame of the process that runs next
    csrr  t0, mscratch
    bne   a0, t0, switch
restore:
    mv    sp, a0
    lw    t0, 4*0(sp)
    csrw  mepc, t0
    lw    t0, 4*5(sp)
    each_temporary lw
    each_argument lw
    lw    sp, 4*2(sp)
    mret

    .balign 8
interrupt:
    to_frame
    each_temporary sw
    each_argument sw
    csrr  t0, mepc
    sw    t0, 4*0(sp)
    la    sp, _stack_top
    call  on_interrupt
    j     resume

fault:                          # saves all registers, for the report; speed does not matter
    each_argument sw
    each_kept sw, sp
    csrr  t0, mepc
    sw    t0, 4*0(sp)
    la    sp, _stack_top
    call  on_fault
    .ifdef FAULTS_CHANGE_KEPT   # counters.rs may also change registers that Rust preserves
    j     enter
    .endif
    j     resume

switch:                         # another process runs next; t0: the frame of the previous one
    each_kept sw, t0
enter:
    csrw  mscratch, a0
    each_kept lw, a0
    j     restore

    .global enter_user
enter_user:                     # a0: the frame of the first process
    li    t0, 0x1800            # mret goes to user mode,
    csrc  mstatus, t0
    li    t0, 0x80              # with interrupts on
    csrs  mstatus, t0
    j     enter
