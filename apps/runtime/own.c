/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The rows that the harness measures in every app besides the app's own: time.*, what a reading of
 * the counters costs, and null.*, controls that measure nothing by the same means. A control less
 * its time.* has to be 0: what else it shows is how far the app's rows may be off.
 */
#include "bench.h"

#ifdef __riscv
#define RETURN "ret"
#else
#define RETURN "bx lr"
#endif

/* A body as that of time.read, in another place. */
static __attribute__((naked)) uint32_t nothing(void *arg) {
    (void)arg;
    __asm__(RETURN);
}

TM_BENCH_OWN(time_read, .body = tm_body_empty);
TM_BENCH_OWN(null_sample, .body = nothing);
