/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The counterpart of own.c for rows that read the counters themselves. A Rust app defines these two
 * rows itself, since they use the same reading as its other rows; it is linked without this file.
 */
#include "reading.h"

/* Two functions that the compiler does not merge: two addresses, as for the bodies. */
#define SAMPLE_OF_TWO_READINGS(name)                                                               \
    static __attribute__((noipa)) bool name(struct tm_run *run) {                                  \
        struct reading from = take_reading(counter_of(run));                                       \
        struct reading to = take_reading(counter_of(run));                                         \
        put_sample(run, from, to);                                                                 \
        return true;                                                                               \
    }
SAMPLE_OF_TWO_READINGS(sample_reading)
SAMPLE_OF_TWO_READINGS(sample_null)

TM_BENCH_OWN(time_reading, .sample = sample_reading);
TM_BENCH_OWN(null_reading, .sample = sample_null);
