/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Series of samples: printing them run by run, and the test whether they are steady. Pure C, like
 * protocol.h.
 */
#ifndef TM_RUNTIME_SERIES_H
#define TM_RUNTIME_SERIES_H

#include "protocol.h"

#define TM_PERIOD_MAX 4    /* the longest group that counts as repeating */
#define TM_STEADY_WINDOW 8 /* samples that show whether a series repeats */

struct tm_sample_pair {
    uint32_t cycles;
    uint32_t instret;
};

/* Does a series repeat from its first sample to its last, with a period of at most TM_PERIOD_MAX? A
 * series shorter than TM_STEADY_WINDOW does not count as repeating. */
bool tm_series_repeats(const struct tm_sample_pair *samples, uint32_t count);

/* Add the runs of a series to a record: `a`, `a*n`, `(a,b)*n`. `stride` is in words. */
void tm_record_series(struct tm_out *out, const uint32_t *values, uint32_t stride, uint32_t count);

/* Add a short series as one run: `a*n` if its values are equal, else as one group. */
void tm_record_group(struct tm_out *out, const uint32_t *values, uint32_t count);

#endif
