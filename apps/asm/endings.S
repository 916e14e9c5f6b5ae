/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Fatal ends of apps, for the benchmarks of ends, with the simulator's marks at the exact instruction. */
#include "abi.h"

    .option norelax

/* The mark `fault`: reads the word at address 0, which no app may read. */
    .section .text.tm_fault, "ax"
    .globl  tm_fault, tm_mark_fault
    .type   tm_fault, @function
tm_fault:
tm_mark_fault:
    lw      zero, 0(zero)
    ret
    .size   tm_fault, . - tm_fault

/* The mark `exit`: ends and asks for a restart. Version 1 has no exit: there it returns. */
    .section .text.tm_restart, "ax"
    .globl  tm_restart
    .type   tm_restart, @function
tm_restart:
#if TM_ABI == 2
    .globl  tm_mark_exit
    li      a0, TOCK_EXIT_RESTART
    li      a1, 0
    li      a4, TOCK_EXIT
tm_mark_exit:
    ecall
#endif
    ret
    .size   tm_restart, . - tm_restart
