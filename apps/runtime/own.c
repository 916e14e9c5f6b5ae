/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The rows that the harness measures in every app in addition to the app's own: time.*, the
 * overhead of reading the counters, and null.*, controls that measure nothing with the same method.
 * A control minus its time.* should be 0; its deviation shows the possible error of the app's rows.
 */
#include "bench.h"

#ifdef __riscv
#define RETURN "ret"
#else
#define RETURN "bx lr"
#endif

/* A body like that of time.read, at another address. */
static __attribute__((naked)) uint32_t nothing(void *arg) {
    (void)arg;
    __asm__(RETURN);
}

TM_BENCH_OWN(time_read, .body = tm_body_empty);
TM_BENCH_OWN(null_sample, .body = nothing);
