/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* How the samples of a row are taken: see sampling.h. */
#include "sampling.h"

/* With steady_stop the samples are checked once, after this many: the cold one and a window.
 * Without steady_stop all samples must follow each other in the same way: any code between only two
 * of them would stay in the cache. */
#define ENOUGH (1 + TM_STEADY_WINDOW)

struct tm_sample_pair tm_samples[TM_SAMPLES_MAX];
struct tm_passes tm_passes[TM_LENGTHS];
uint32_t tm_events[TM_EVENTS][TM_EVENT_SAMPLES];

uint32_t *tm_behind_samples(uint32_t samples, uint32_t words) {
    const uint32_t of_one = sizeof *tm_samples / sizeof(uint32_t);
    if (samples > TM_SAMPLES_MAX || words > (TM_SAMPLES_MAX - samples) * of_one)
        return 0;
    return &tm_samples[TM_SAMPLES_MAX].cycles - words;
}

/* Did the body return the expected word? */
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

/* Did the reads of the counters succeed? In version 1 they cannot fail. */
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
    if (run->shot.passes)
        tm_sample_passes(&run->shot);
    else
        tm_sample(&run->shot);
    return readings_are_good(run, TM_READ_RETURNS, TM_READ_RETURNS) && body_is_good(run);
}

static bool may_stop_early(const struct tm_run *run) {
    const struct tm_bench *bench = run->bench;
    return tm_link.steady_stop && !bench->all_samples && bench->by != TM_BY_MARK;
}

/* Take samples of cycles, in version 2 also of instret. Return how many there are, 0 if one was
 * bad. */
static uint32_t take_first(struct tm_run *run, struct tm_sample_pair *samples, uint32_t most) {
    uint32_t taken = 0, look = may_stop_early(run) && ENOUGH < most ? ENOUGH : most;
    for (;;) {
        for (; taken < look; taken++) {
            if (!take(run))
                return 0;
            samples[taken].cycles = run->shot.cycles;
            samples[taken].instret = TM_BY_ABI(0, run->shot.instret);
        }
        if (taken == most || tm_series_repeats(samples + 1, taken - 1))
            return taken;
        look = most;
    }
}

#if TM_ABI == 1
/* Take the samples twice, once per counter. */
static uint32_t take_all(struct tm_run *run, struct tm_sample_pair *samples, uint32_t most) {
    run->shot.counter = TM_PERF_CYCLES;
    uint32_t taken = take_first(run, samples, most);
    run->shot.counter = TM_PERF_INSTRET;
    for (uint32_t i = 0; i < taken && run->bench->by != TM_BY_MARK; i++) {
        if (!take(run))
            return 0;
        samples[i].instret = run->shot.cycles;
    }
    return taken;
}
#else
static uint32_t take_all(struct tm_run *run, struct tm_sample_pair *samples, uint32_t most) {
    return take_first(run, samples, most);
}
#endif

uint32_t tm_take_samples(struct tm_run *run) { return take_all(run, tm_samples, run->samples); }

bool tm_take_passes(struct tm_run *run) {
    uint32_t most = run->samples < TM_PASS_SAMPLES ? run->samples : TM_PASS_SAMPLES;
    bool good = true;
    for (uint32_t i = 0; i < TM_LENGTHS && good; i++) {
        run->shot.passes = 1 + (i + 1) * run->passes;
        tm_passes[i].taken = take_all(run, tm_passes[i].samples, most);
        good = tm_passes[i].taken;
    }
    run->shot.passes = 0;
    return good;
}

#if TM_ABI == 1
uint32_t tm_count_events(struct tm_run *run) {
    (void)run;
    return 0;
}
#else
static bool take_events(struct tm_run *run) {
    uint32_t counts[TM_EVENTS];
    if (run->bench->before && !run->bench->before(run))
        return false;
    tm_sample_events(&run->shot, counts);
    for (uint32_t event = 0; event < TM_EVENTS; event++) {
        tm_events[event][0] = tm_events[event][1];
        tm_events[event][1] = counts[event];
    }
    return readings_are_good(run, TOCK_SUCCESS, TOCK_SUCCESS_U64) && body_is_good(run);
}

static bool events_repeat(void) {
    bool repeat = true;
    for (uint32_t event = 0; event < TM_EVENTS; event++)
        repeat &= tm_events[event][0] == tm_events[event][1];
    return repeat;
}

/* With the cache on, the first count brings this sampler's code into the cache and the second one
 * is used. With the cache off, both are used. If the two differ, an interrupt hit one of them; the
 * next one does not come soon. */
uint32_t tm_count_events(struct tm_run *run) {
    uint32_t last = run->bench->events_to, taken = 0;
    bool repeats = may_stop_early(run);
    if (!TM_BY_PERF || run->bench->sample || (last && run->value[0] > last))
        return 0;
    if (tock_failed(tock_command(TM_PERF, TM_PERF_EVENT, TM_EVENT_FIRST, 0)))
        return 0;
    do
        if (!take_events(run))
            return 0;
    while (++taken < TM_EVENT_SAMPLES || (repeats && !events_repeat() && taken < 4));
    return repeats ? TM_EVENT_SAMPLES : 1;
}
#endif
