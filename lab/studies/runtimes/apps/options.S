/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The app that the tool links for firmware without a kernel. It never runs: it has the options of the run, and it
 * tells the tool where the marks of the firmware are. Its first word, at a fixed address in flash, points to the
 * options.
 */
    .section .start, "ax"
    .globl  _start
_start:
    .word   tm_link

#ifdef MARKS
    .set    at, 0x20000410 /* firmware/memory.ld */
    .macro  mark name
    .globl  tm_mark_\name
    .set    tm_mark_\name, at
    .set    at, at + 16
    .endm
    .include "marks.inc"
    .globl  tm_mark_null_end
    .set    tm_mark_null_end, tm_mark_null
#endif

    .include "link.inc"
