/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The rows that the harness measures in every app besides the app's own: time.*, what a reading of
 * the counters costs, and null.*, controls that measure nothing by the same means. A control less
 * its time.* has to be 0: what else it shows is how far the app's rows may be off.
 */
#include "reading.h"

/* A body as that of time.read, in another place. */
static __attribute__((naked)) uint32_t nothing(void *arg) {
    (void)arg;
    __asm__("ret");
}

/* Two of them, and neither is folded into the other: two places, as the bodies have. */
#define SAMPLE_OF_TWO_READINGS(name)                                                               \
    static __attribute__((noipa)) bool name(struct tm_run *run) {                                  \
        struct reading from = take_reading(counter_of(run));                                       \
        struct reading to = take_reading(counter_of(run));                                         \
        put_sample(run, from, to);                                                                 \
        return true;                                                                               \
    }
SAMPLE_OF_TWO_READINGS(sample_reading)
SAMPLE_OF_TWO_READINGS(sample_null)

TM_BENCH_OWN(time_read, .body = tm_body_empty);
TM_BENCH_OWN(time_reading, .sample = sample_reading);
TM_BENCH_OWN(null_sample, .body = nothing);
TM_BENCH_OWN(null_reading, .sample = sample_null);
