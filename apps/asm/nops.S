/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Bodies of the group icache: straight runs of NOPs. A sample of N bytes enters a run N bytes before its
 * end, and leaves by the `ret` there, which is on an 8-byte boundary like that of time.read. Returns its
 * argument.
 */
#include "body.inc"
#include "rows.h"

#define SLED_BYTES TM_MAX_icache_nops_size

    .globl  tm_nops_2, tm_nops_4 /* where the runs begin */

    .balign 64
tm_nops_2:
    .rept   SLED_BYTES / 2
    c.nop
    .endr
body tm_nops_2_end
    ret
end_body tm_nops_2_end

    .balign 64
    .option push
    .option norvc
tm_nops_4:
    .rept   SLED_BYTES / 4
    nop
    .endr
    .option pop
body tm_nops_4_end
    ret
end_body tm_nops_4_end
