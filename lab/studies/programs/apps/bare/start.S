/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Start and trap path of the replacement for a kernel in bare programs: see bare.c. */

    .option norelax
    .option arch, +zicsr
    .section .text.start, "ax"
    .globl  _start
_start:
    la      sp, _stack_top
    csrw    mscratch, sp
    la      t0, trap
    csrw    mtvec, t0           /* Ibex takes exceptions at the vector's first entry */
    csrwi   mstatus, 0          /* no interrupt ever comes */
    csrwi   mcountinhibit, 0
    call    bare_start
    /* The app's start: a0 to a3 as from a kernel; all of RAM is the app's. */
    mv      t0, a0
    la      t1, bare_handed
    lw      a0, 0(t1)
    lw      a1, 4(t1)
    lw      a2, 8(t1)
    lw      a3, 12(t1)
    jr      t0

/* Save all registers in a frame on this program's own stack, and restore them from there. */
    .balign 256
trap:
    csrrw   sp, mscratch, sp
    addi    sp, sp, -128
    .irp    i, 1, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31
    sw      x\i, 4 * \i(sp)
    .endr
    csrr    t0, mepc
    sw      t0, 0(sp)
    csrr    a1, mcause
    mv      a0, sp
    call    bare_trap
    lw      t0, 0(sp)
    csrw    mepc, t0
    .irp    i, 1, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31
    lw      x\i, 4 * \i(sp)
    .endr
    addi    sp, sp, 128
    csrrw   sp, mscratch, sp
    mret
