/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* How the samples of a row are taken: see sampling.h. */
#include "sampling.h"

/* With steady_stop the samples are looked at once, after so many: the cold one and a window. */
#define ENOUGH (1 + TM_STEADY_WINDOW)

struct tm_sample_pair tm_samples[TM_SAMPLES_MAX];
uint32_t tm_events[TM_EVENTS][TM_EVENT_SAMPLES];

/* Did the body return what it should? */
static bool body_is_good(struct tm_run *run) {
    const struct tm_bench *bench = run->bench;
    if (bench->returns_any || run->shot.result[0] == run->expect)
        return true;
    if (!bench->call)
        return tm_fail(run, "body", "WRONG_RESULT");
    struct tock_return returned = tock_returned(run->shot.result);
    if (tock_failed(returned))
        return tm_fail_with(run, bench->call, returned);
    return tm_fail(run, bench->call, "WRONG_RESULT");
}

/* Did the readings of the counters succeed? On version 1 they cannot fail, nor say so. */
static bool readings_are_good(struct tm_run *run, uint32_t before, uint32_t after) {
#if TM_ABI == 2
    if (run->shot.read_before != before || run->shot.read_after != after)
        return tm_fail(run, "perf_read", "WRONG_RESULT");
#else
    (void)run, (void)before, (void)after;
#endif
    return true;
}

static bool take(struct tm_run *run) {
    if (run->bench->before && !run->bench->before(run))
        return false;
    if (run->bench->sample)
        return run->bench->sample(run);
    tm_sample(&run->shot);
    return readings_are_good(run, TOCK_SUCCESS_U32_U32, TOCK_SUCCESS_U32_U32) && body_is_good(run);
}

static bool may_stop_early(const struct tm_run *run) {
    const struct tm_bench *bench = run->bench;
    return tm_link.steady_stop && !bench->all_samples && bench->by != TM_BY_MARK;
}

/* The first pass takes cycles, on version 2 instret too. */
static uint32_t take_all(struct tm_run *run) {
    uint32_t taken = 0;
    while (taken < run->samples) {
        if (!take(run))
            return 0;
        tm_samples[taken].cycles = run->shot.cycles;
        tm_samples[taken].instret = TM_BY_ABI(0, run->shot.instret);
        if (++taken == ENOUGH && may_stop_early(run) &&
            tm_series_repeats(tm_samples + 1, taken - 1))
            break;
    }
    return taken;
}

#if TM_ABI == 1
/* One counter a sample: the second pass takes as many of the other. */
uint32_t tm_take_samples(struct tm_run *run) {
    run->shot.counter = TM_PERF_CYCLES;
    uint32_t taken = take_all(run);
    run->shot.counter = TM_PERF_INSTRET;
    for (uint32_t i = 0; i < taken && run->bench->by != TM_BY_MARK; i++) {
        if (!take(run))
            return 0;
        tm_samples[i].instret = run->shot.cycles;
    }
    return taken;
}

bool tm_count_events(struct tm_run *run) {
    (void)run;
    return false;
}
#else
uint32_t tm_take_samples(struct tm_run *run) { return take_all(run); }

/* The first one brings this way of sampling into the cache, and is dropped. */
bool tm_count_events(struct tm_run *run) {
    uint32_t counts[TM_EVENTS];
    uint32_t last = run->bench->events_to;
    if (run->bench->sample || (last && run->value[0] > last))
        return false;
    if (tock_failed(tock_command(TM_PERF, TM_PERF_EVENT, TM_EVENT_FIRST, 0)))
        return false;
    for (uint32_t i = 0; i < 1 + TM_EVENT_SAMPLES; i++) {
        if (run->bench->before && !run->bench->before(run))
            return false;
        tm_sample_events(&run->shot, counts);
        if (!readings_are_good(run, TOCK_SUCCESS, TOCK_SUCCESS_U64) || !body_is_good(run))
            return false;
        for (uint32_t event = 0; event < TM_EVENTS && i > 0; event++)
            tm_events[event][i - 1] = counts[event];
    }
    return true;
}
#endif
