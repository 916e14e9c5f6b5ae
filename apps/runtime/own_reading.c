/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * What own.c is, for rows that read by themselves. An app in Rust has these two of its own, since
 * they are by the reading that its rows have; it is linked without this file.
 */
#include "reading.h"

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

TM_BENCH_OWN(time_reading, .sample = sample_reading);
TM_BENCH_OWN(null_reading, .sample = sample_null);
