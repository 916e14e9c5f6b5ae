/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Taking the samples of a row: the passes over the counters. Part of the harness. */
#ifndef TM_RUNTIME_SAMPLING_H
#define TM_RUNTIME_SAMPLING_H

#include "bench.h"
#include "series.h"

#define TM_EVENT_SAMPLES 2 /* so that a group of the largest numbers fits in a word */

#define TM_PASS_SAMPLES (1 + TM_STEADY_WINDOW) /* per number of passes */

/* The two numbers of calls per sample. Long samples have n more calls than short ones, where n is
 * the benchmark's `passes`. The first call of each is not part of their difference. */
enum { TM_SHORT, TM_LONG, TM_LENGTHS };

struct tm_passes {
    struct tm_sample_pair samples[TM_PASS_SAMPLES];
    uint32_t taken;
};

/* The samples of the current row. */
extern struct tm_sample_pair tm_samples[TM_SAMPLES_MAX];
extern struct tm_passes tm_passes[TM_LENGTHS];
extern uint32_t tm_events[TM_EVENTS][TM_EVENT_SAMPLES]; /* the last counts */

/* Return the last words of the samples' memory, for an app that is short of RAM and takes few
 * samples. 0 if its samples need that memory. */
uint32_t *tm_behind_samples(uint32_t samples, uint32_t words);

/* Take the samples. Return how many there are, 0 if one was bad. */
uint32_t tm_take_samples(struct tm_run *run);

/* Take the samples of several passes. Return false if one was bad. */
bool tm_take_passes(struct tm_run *run);

/* Count the core's events a few times. Return how many of the last counts are valid: 0 if this
 * kernel cannot count events, or one count was bad. */
uint32_t tm_count_events(struct tm_run *run);

#endif
