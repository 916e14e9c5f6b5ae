/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The benchmark harness: see bench.h. */
#include "bench.h"
#include "peer.h"
#include "records.h"
#include "sampling.h"
#include <string.h>

#define TEXT_OF(token) #token
#define TEXT(macro) TEXT_OF(macro)

/* Only apps with marks are linked with it: mark.c. */
extern const struct tm_bench tm_bench_null_mark __attribute__((weak));

static void print_bench(const struct tm_run *run) {
    const struct tm_bench *bench = run->bench;
    tm_begin_record(run, "bench");
    tm_record_number(&tm_log, "inner", bench->inner);
    tm_record_number(&tm_log, "n", run->samples);
    if (run->passes)
        tm_record_number(&tm_log, "passes", run->passes);
    if (bench->by == TM_BY_READING)
        tm_record_words(&tm_log, "by=reading");
    if (bench->by == TM_BY_MARK) {
        tm_record_words(&tm_log, "clock=sim");
        tm_record_pair(&tm_log, "from", bench->from);
        tm_record_pair(&tm_log, "to", run->to);
    }
}

static void add_series(const char *name, const uint32_t *first, uint32_t count) {
    tm_record_words(&tm_log, name);
    tm_record_series(&tm_log, first, sizeof *tm_samples / sizeof *first, count);
}

/* Add the series for one number of passes. */
static void add_passes(const struct tm_passes *passes, const char *cycles, const char *instret) {
    add_series(cycles, &passes->samples->cycles, passes->taken);
    if (TM_COUNTS_INSTRET)
        add_series(instret, &passes->samples->instret, passes->taken);
}

static void add_events(uint32_t count) {
    tm_record_words(&tm_log, "events");
    for (uint32_t i = 0; i < TM_EVENTS; i++)
        tm_record_group(&tm_log, &tm_events[i][TM_EVENT_SAMPLES - count], count);
}

static void print_data(uint32_t taken, bool passes, uint32_t events) {
    tm_record_and_next(&tm_log);
    tm_record(&tm_log, "data");
    add_series("cycles", &tm_samples->cycles, taken);
    if (TM_COUNTS_INSTRET)
        add_series("instret", &tm_samples->instret, taken);
    if (passes) {
        add_passes(&tm_passes[TM_SHORT], "short_cycles", "short_instret");
        add_passes(&tm_passes[TM_LONG], "long_cycles", "long_instret");
    }
    if (events)
        add_events(events);
    tm_record_words(&tm_log, "."); /* the record is complete, even if the next line is lost */
}

static void print_row(const struct tm_run *run, uint32_t taken, bool passes, uint32_t events) {
    if (run->skip_reason) {
        tm_begin_record(run, "skip");
        tm_record_quoted(&tm_log, "reason", run->skip_reason);
    } else if (run->failed_call) {
        tm_begin_record(run, "fail");
        tm_record_pair(&tm_log, "call", run->failed_call);
        tm_record_pair(&tm_log, "err", run->failed_error);
    } else {
        print_bench(run);
        if (run->bench->by != TM_BY_MARK)
            print_data(taken, passes, events);
    }
    tm_record_end(&tm_log);
}

/* Return whether a counter can be read. In user mode a read of a closed counter faults, so that is
 * not tried. */
static bool counter_is_there(struct tm_run *run) {
#ifdef TM_CSR
    return run;
#else
    return tm_require(run, TM_COUNTER "_exists",
                      tock_command(TM_READ_DRIVER, TM_PERF_EXISTS, 0, 0));
#endif
}

static bool is_possible(struct tm_run *run) {
    return !run->bench->skip || tm_skip(run, run->bench->skip);
}

static uint32_t most(uint32_t samples) {
    return tm_link.most_samples && tm_link.most_samples < samples ? tm_link.most_samples : samples;
}

/* Return the app's i-th benchmark if it is part of this scene and selected, else 0. */
static const struct tm_bench *bench_here(uint32_t i) {
    const struct tm_bench *bench = tm_app.benches[i];
    uint32_t only = tm_link.only & ~TM_NO_CONTROLS;
    return (!only || only >> i & 1) && bench->scenes >> tm_link.scene & 1 ? bench : 0;
}

/* Does this app take samples by this method here? The app time, which has only the harness's rows,
 * shows the overhead of every method. */
static bool uses(enum tm_by by) {
    for (uint32_t i = 0; i < tm_app.n_benches; i++)
        if (bench_here(i) && bench_here(i)->by == by)
            return true;
    return !tm_app.n_benches && by != TM_BY_MARK;
}

/* Return the number of passes. If samples repeat, one pass shows as much as many. */
static uint32_t passes_of(const struct tm_bench *bench) {
    return bench->passes && tm_link.steady_stop ? 1 : bench->passes;
}

/* Does a benchmark of this app measure the slope over several passes? */
static bool takes_passes(void) {
    for (uint32_t i = 0; i < tm_app.n_benches; i++)
        if (bench_here(i) && bench_here(i)->passes)
            return true;
    return !tm_app.n_benches;
}

static void measure(const struct tm_bench *bench, const uint32_t value[TM_PARAMS_MAX]) {
    struct tm_run run = {
        .bench = bench,
        .value = {value[0], value[1]},
        .samples = most(bench->samples),
        .passes = takes_passes() ? passes_of(bench) : 0,
        .expect = bench->expect,
        .to = bench->to,
        .shot = {.body = bench->body},
    };
    uint32_t taken = 0, events = 0;
    bool passes = false;
    tm_row_at_hand = &run;
    if (is_possible(&run) && counter_is_there(&run) && (!bench->setup || bench->setup(&run))) {
        taken = tm_take_samples(&run);
        passes = taken && run.passes && tm_take_passes(&run);
        events = taken && uses(TM_BY_SAMPLER) ? tm_count_events(&run) : 0;
        if (bench->finish)
            bench->finish(&run);
    }
    print_row(&run, taken, passes, events);
    tm_row_at_hand = 0;
}

/* Return the i-th value of a parameter. A name is represented by its index. */
static uint32_t value_of(const struct tm_param *param, uint32_t i) {
    return param->numbers ? param->numbers[i] : i;
}

/* Return the number of values. A missing parameter has one value, which is not used. */
static uint32_t count_of(const struct tm_param *param) { return param->name ? param->count : 1; }

/* Return the number of a benchmark's scenes before this one. */
static uint32_t scenes_before(const struct tm_bench *bench) {
    uint32_t count = 0;
    for (uint32_t scene = 0; scene < tm_link.scene; scene++)
        count += bench->scenes >> scene & 1;
    return count;
}

/* Measure the rows of a benchmark that belong to this scene: all values of the first parameter, or
 * one. */
static void measure_bench(const struct tm_bench *bench) {
    const struct tm_param *first = &bench->params[0], *second = &bench->params[1];
    bool has_one = !(bench->scenes & (bench->scenes - 1));
    uint32_t begin = has_one ? 0 : scenes_before(bench);
    uint32_t end = has_one ? count_of(first) : begin + 1;
    for (uint32_t i = begin; i < end; i++)
        for (uint32_t j = 0; j < count_of(second); j++)
            measure(bench, (uint32_t[]){value_of(first, i), value_of(second, j)});
}

static void measure_own(const struct tm_bench *bench) {
    measure(bench, (uint32_t[TM_PARAMS_MAX]){0});
}

static void measure_controls(void) {
    measure_own(&tm_bench_null_sample);
    if (uses(TM_BY_READING))
        measure_own(&tm_bench_null_reading);
    if (uses(TM_BY_MARK))
        measure_own(&tm_bench_null_mark);
}

/* Print the image's number. It is in the begin and the end record, so that no line of another image
 * can be mistaken for a part of this run. */
static void print_image(void) {
    static const char digits[] = "0123456789abcdef";
    struct tm_word word = {.length = 0};
    tm_word_text(&word, "image=");
    for (int shift = 28; shift >= 0; shift -= 4)
        tm_word_char(&word, digits[tm_link.image >> shift & 0xf]);
    tm_record_word(&tm_log, &word);
}

int main(void) {
    /* A kernel's calls may cost more or less while other apps start. */
    if (tm_link.slots > 1)
        tm_nap(TM_PEER_START_MS);
#ifdef TM_CYCLECOUNT
    tock_command(TM_READ_DRIVER, TOCK_CYCLE_COUNT_START, 0,
                 0); /* another app may have started it */
#endif
    tm_log.app = tm_app.name;
    tm_record(&tm_log, "begin proto=1");
    tm_record_pair(&tm_log, "lang", tm_app.lang);
    tm_record_words(&tm_log, "abi=" TEXT(TM_ABI));
    tm_record_number(&tm_log, "apps", tm_link.apps);
#ifdef TM_CSR
    tm_record_words(&tm_log, TM_COUNTER "=" TM_CSR_MODE);
#else
    tm_record_words(&tm_log, TM_COUNTER "=" TEXT(TM_READ_DRIVER));
#endif
    tm_record_pair(&tm_log, "boot", tm_link.boot);
    if (tm_link.only)
        tm_record_number(&tm_log, "only", tm_link.only);
    print_image();
    tm_record_quoted(&tm_log, "cc", tm_app.cc);
    tm_record_end(&tm_log);

    measure_own(&tm_bench_time_read);
    if (uses(TM_BY_READING))
        measure_own(&tm_bench_time_reading);
    for (uint32_t i = 0; i < tm_app.n_benches; i++)
        if (bench_here(i))
            measure_bench(bench_here(i));
    if (!(tm_link.only & TM_NO_CONTROLS))
        measure_controls();

    tm_record(&tm_log, "end ok");
    print_image();
    tm_record_end(&tm_log);
    return 0;
}
