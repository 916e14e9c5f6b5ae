# SPDX-License-Identifier: Apache-2.0 OR MIT
#
# From the boot ROM's jump to Rust: machine mode, interrupts off, RAM not yet initialised.

    .section .text.start, "ax"
    .global _start
_start:
    la    t0, trap_vector
    ori   t0, t0, 1             # Ibex has only the vectored mode
    csrw  mtvec, t0
    la    sp, _stack_top
    la    t0, _stack_bottom     # a trap this early saves its registers here
    csrw  mscratch, t0
    csrw  mcountinhibit, zero   # Perf's counters run from here on

    la    t0, _load_data        # copy initialised data from flash to RAM
    la    t1, _sdata
    la    t2, _edata
1:  bgeu  t1, t2, 2f
    lw    t3, 0(t0)
    sw    t3, 0(t1)
    addi  t0, t0, 4
    addi  t1, t1, 4
    j     1b
2:  la    t1, _sbss             # clear the rest
    la    t2, _ebss
3:  bgeu  t1, t2, 4f
    sw    zero, 0(t1)
    addi  t1, t1, 4
    j     3b
4:  call  kernel_main           # returns the first process's registers
    j     enter_user
