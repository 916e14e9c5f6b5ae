/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The benchmark harness: see bench.h. */
#include "bench.h"
#include "series.h"

/*
 * With steady_stop the samples are looked at only after every batch, so that what runs between two
 * samples is the same as without. Looking disturbs the caches, for two samples as a rule: a batch
 * therefore begins with some that are never in the window. Nor is the very first one, the cold one.
 */
#define WARM_UP 4
#define BATCH (WARM_UP + TM_STEADY_WINDOW)

#define TEXT_OF(token) #token
#define TEXT(macro) TEXT_OF(macro)

/* What a reading itself costs: the first row of every app, since the tool subtracts it there. */
static const struct tm_bench time_read = {
    .id = "time.read",
    .samples = 1000,
    .inner = 1,
    .body = tm_body_empty,
};

static struct tm_sample_pair samples[TM_SAMPLES_MAX];
static struct tm_out out = {.write = tm_console_write};

bool tm_skip(struct tm_run *run, const char *reason) {
    run->skip_reason = reason;
    return false;
}

bool tm_fail(struct tm_run *run, const char *call, const char *error) {
    if (!run->failed_call) { /* what failed first is why */
        run->failed_call = call;
        run->failed_error = error;
    }
    return false;
}

bool tm_verify(struct tm_run *run, bool as_it_should) {
    return as_it_should || tm_fail(run, "verify", "WRONG_RESULT");
}

/* Did the readings succeed, and did the body return what it should? */
static bool sample_is_good(struct tm_run *run) {
    const struct tm_shot *shot = &run->shot;
    if (shot->read_before != TOCK_SUCCESS_U32_U32 || shot->read_after != TOCK_SUCCESS_U32_U32)
        return tm_fail(run, "perf_read", "WRONG_RESULT");
    if (run->bench->returns_any || shot->result[0] == run->expect)
        return true;
    const char *call = run->bench->call;
    if (call && shot->result[0] < TOCK_SUCCESS)
        return tm_fail(run, call, tock_error_name(shot->result[1]));
    return tm_fail(run, call ? call : "body", "WRONG_RESULT");
}

/* The series: how many samples were taken, 0 where one was no good. */
static uint32_t take_samples(struct tm_run *run) {
    uint32_t taken = 0;
    while (taken < run->bench->samples) {
        for (uint32_t i = 0; i < BATCH && taken < run->bench->samples; i++, taken++) {
            tm_sample(&run->shot);
            if (!sample_is_good(run))
                return 0;
            samples[taken] = (struct tm_sample_pair){run->shot.cycles, run->shot.instret};
        }
        if (tm_link.steady_stop && tm_series_is_steady(samples, taken))
            break;
    }
    return taken;
}

static void begin_record(const struct tm_run *run, const char *kind) {
    tm_record(&out, kind);
    tm_record_words(&out, run->bench->id);
    if (run->bench->param)
        tm_record_number(&out, run->bench->param, run->value);
}

static void print_series(const char *kind, const uint32_t *first, uint32_t count) {
    tm_record(&out, kind);
    tm_record_series(&out, first, sizeof *samples / sizeof *first, count);
    tm_record_end(&out);
}

static void print_row(const struct tm_run *run, uint32_t taken) {
    if (run->skip_reason) {
        begin_record(run, "skip");
        tm_record_quoted(&out, "reason", run->skip_reason);
        tm_record_end(&out);
    } else if (run->failed_call) {
        begin_record(run, "fail");
        tm_record_pair(&out, "call", run->failed_call);
        tm_record_pair(&out, "err", run->failed_error);
        tm_record_end(&out);
    } else {
        begin_record(run, "bench");
        tm_record_number(&out, "inner", run->inner);
        tm_record_number(&out, "n", run->bench->samples);
        tm_record_end(&out);
        print_series("data cycles", &samples->cycles, taken);
        print_series("data instret", &samples->instret, taken);
    }
}

static bool perf_is_there(struct tm_run *run) {
    struct tock_return returned = tock_command(TM_PERF, TM_PERF_EXISTS, 0, 0);
    if (tock_failed(returned))
        return tm_fail(run, "perf_exists", tock_error_name(returned.word[0]));
    return true;
}

static void measure(const struct tm_bench *bench, uint32_t value) {
    struct tm_run run = {
        .bench = bench,
        .value = value,
        .inner = bench->inner,
        .expect = bench->expect,
        .shot = {.body = bench->body},
    };
    uint32_t taken = 0;
    if (perf_is_there(&run) && (!bench->setup || bench->setup(&run))) {
        taken = take_samples(&run);
        if (bench->finish)
            bench->finish(&run);
    }
    print_row(&run, taken);
}

static void measure_all_values(const struct tm_bench *bench) {
    if (!bench->param)
        measure(bench, 0);
    for (uint32_t i = 0; i < bench->n_values; i++)
        measure(bench, bench->values[i]);
}

int main(void) {
    out.app = tm_app.name;
    tm_record(&out, "begin proto=1 lang=c abi=" TEXT(TM_ABI));
    tm_record_number(&out, "apps", tm_link.apps);
    tm_record_words(&out, "perf=" TEXT(TM_PERF));
    tm_record_quoted(&out, "cc", "riscv64-unknown-elf-gcc " __VERSION__ " " TM_CFLAGS);
    tm_record_end(&out);

    measure_all_values(&time_read);
    for (uint32_t i = 0; i < tm_app.n_benches; i++)
        measure_all_values(&tm_app.benches[i]);

    tm_record(&out, "end ok");
    tm_record_end(&out);
    return 0;
}
