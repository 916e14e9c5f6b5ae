/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* How the samples of a row are taken: the passes over the counters. Part of the harness. */
#ifndef TM_RUNTIME_SAMPLING_H
#define TM_RUNTIME_SAMPLING_H

#include "bench.h"
#include "series.h"

#define TM_EVENT_SAMPLES 2 /* so that a group of the largest numbers fits in a word */

#define TM_PASS_SAMPLES (1 + TM_STEADY_WINDOW) /* of each number of passes */

/* How many calls of the body a sample has: n more in the long ones, n being the bench's `passes`.
 * The first of either is no part of their difference. */
enum { TM_SHORT, TM_LONG, TM_LENGTHS };

struct tm_passes {
    struct tm_sample_pair samples[TM_PASS_SAMPLES];
    uint32_t taken;
};

/* The samples of the row at hand. */
extern struct tm_sample_pair tm_samples[TM_SAMPLES_MAX];
extern struct tm_passes tm_passes[TM_LENGTHS];
extern uint32_t tm_events[TM_EVENTS][TM_EVENT_SAMPLES]; /* the last ones */

/* The last words of their memory, for an app that is short of RAM and takes few; 0 if there are not
 * as many behind its samples. */
uint32_t *tm_behind_samples(uint32_t samples, uint32_t words);

/* Take them: how many there are, 0 where one was no good. */
uint32_t tm_take_samples(struct tm_run *run);

/* Take those of several passes. False where one was no good. */
bool tm_take_passes(struct tm_run *run);

/* Count the core's events, a few times. How many of the last ones count: 0 where this kernel cannot
 * count them, or one count was no good. */
uint32_t tm_count_events(struct tm_run *run);

#endif
