/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Fatal ends of apps, in Thumb: as in ../endings.S. */
#include "abi.h"
#include "body.inc"

    .globl  tm_mark_fault, tm_mark_exit

body tm_fault
tm_mark_fault:
    movs    r0, #0
    ldr     r0, [r0]
    bx      lr
end_body tm_fault

body tm_restart
    movs    r0, #TOCK_EXIT_RESTART
    movs    r1, #0
tm_mark_exit:
    svc     TOCK_EXIT
    bx      lr
end_body tm_restart
