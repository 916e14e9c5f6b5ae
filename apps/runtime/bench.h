/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The benchmark harness: what an app of benchmarks consists of.
 *
 * An app is its group's benchmarks; main() is the harness's. A benchmark gives one row for each
 * value of its parameters, and a row goes like this:
 *
 *     setup      once: prepares the body, may give up by tm_skip() or tm_fail()
 *     samples    before, outside of the sample; then read counters, body, read counters: nothing
 *                else in between, no output
 *     finish     once: verifies what the body did, takes back what setup gave
 *     output     bench, data …; or fail; or skip
 *
 * After each sample, outside of it, the word that the body returned is compared with `expect`.
 *
 * An ordinary benchmark runs in scene 0, where the app stands alone. Others need other apps beside
 * them: the boots that catalogue.toml describes, each with a number, its scene. One boot may be a
 * scene of several benchmarks.
 */
#ifndef TM_RUNTIME_BENCH_H
#define TM_RUNTIME_BENCH_H

#include "bodies.h"
#include "tock.h"

#define TM_PARAMS_MAX 2

/* By what means a row's samples are taken. Each has a row that measures nothing by it (own.c,
 * own_reading.c). */
enum tm_by {
    TM_BY_SAMPLER, /* tm_sample() calls a body */
    TM_BY_READING, /* the row's own code reads the counters: reading.h */
    TM_BY_MARK,    /* the simulator's clock, between two of its marks (docs/contributing.md) */
};

struct tm_run;
typedef bool tm_hook(struct tm_run *run); /* false once tm_skip() or tm_fail() was called */

/* A parameter: its values are numbers, or names, which the hooks know by their index
 * (TM_INDEX_x_p_v). */
struct tm_param {
    const char *name;
    const uint32_t *numbers;
    const char *const *names;
    uint32_t count;
};

struct tm_bench {
    /* What the catalogue says: TM_ROW_x of rows.h. */
    const char *id;
    uint32_t samples; /* how many, at most TM_SAMPLES_MAX */
    uint32_t inner;   /* operations in a sample */
    enum tm_by by;
    uint32_t passes;  /* of the body, whose slope is measured besides; 0: none */
    uint32_t scenes;  /* in which it runs, a bit each, 0 for where the app stands alone: all values
                         in the one, or the first parameter's i-th in the i-th of several */
    const char *skip; /* why it is not even tried on this version */
    struct tm_param params[TM_PARAMS_MAX];

    /* What its definition says. */
    tm_body *body;      /* what is measured, if setup does not say */
    uint32_t expect;    /* what body returns, if setup does not say */
    bool returns_any;   /* or it returns nothing that could be compared */
    const char *call;   /* the system call that the body makes, if one, for a fail record */
    const char *from;   /* by mark: the sample is the simulator's time from this one */
    const char *to;     /* to that one, if setup does not say; the app prints none */
    uint32_t events_to; /* a sweep's last value that events are counted for; 0: all */
    bool all_samples;   /* a distribution: never ended early */
    tm_hook *setup;
    tm_hook *before;
    tm_hook *sample; /* takes the sample in place of the sampler, puts it into run->shot */
    tm_hook *finish;
};

/*
 * A definition, by the id with "_" for its dot; and the app of a group, whose definitions are all
 * that the catalogue has and no others: else it does not compile.
 *
 *     TM_BENCH(loop_empty, .body = tm_loop_empty, .setup = setup);
 *     TM_APP(loop);
 */
#define TM_BENCH(row, ...) static TM_BENCH_OWN(row, __VA_ARGS__)
#define TM_BENCH_OWN(row, ...) const struct tm_bench tm_bench_##row = {TM_ROW_##row, __VA_ARGS__}
#define TM_APP(group)                                                                              \
    static const struct tm_bench *const tm_benches[] = {TM_BENCHES_##group};                       \
    const struct tm_app tm_app = {#group, "c", TM_CC, tm_benches,                                  \
                                  sizeof tm_benches / sizeof *tm_benches}

/* One row while it is being measured. */
struct tm_run {
    const struct tm_bench *bench;
    uint32_t value[TM_PARAMS_MAX]; /* of its parameters: a number, or the index of a name */
    uint32_t samples;              /* how many */
    uint32_t passes;               /* as the bench has it, if any row of this boot has */
    uint32_t expect;
    const char *to;      /* the mark where a sample ends, by the simulator's clock */
    struct tm_shot shot; /* its body and arg are setup's to change; result is the last sample's */
    const char *skip_reason;
    const char *failed_call;
    const char *failed_error;
};

struct tm_app {
    const char *name;
    const char *lang; /* "c", or that of an app which is not in C but has this harness, too */
    const char *cc;   /* its compiler and what shapes the code */
    const struct tm_bench *const *benches;
    uint32_t n_benches;
};

/* Each app defines its own. */
extern const struct tm_app tm_app;

/* What the harness measures in every app (own.c; own_reading.c is for apps in C, since it has their
 * reading): first what a reading costs, by each means, which
 * the tool subtracts; last what is nothing, by the same means. */
extern const struct tm_bench tm_bench_time_read, tm_bench_time_reading;
extern const struct tm_bench tm_bench_null_sample, tm_bench_null_reading;

/* At the end of an app's file: it wants so many bytes of RAM (a plain number) behind its own, and
 * gets them by tock_more_ram() as far as there are any. */
#define TM_HEAP(bytes) __asm__(".globl tm_heap\n\t.set tm_heap, " #bytes)

/* Give the row up, and say why: this kernel cannot run it, or a call failed. All return false. */
bool tm_skip(struct tm_run *run, const char *reason);
bool tm_fail(struct tm_run *run, const char *call, const char *error);
bool tm_fail_with(struct tm_run *run, const char *call, struct tock_return returned);

/* A hook's check that what was measured also happened. */
bool tm_verify(struct tm_run *run, bool as_it_should);

/* A hook's call has to succeed. */
static inline bool tm_require(struct tm_run *run, const char *call, struct tock_return returned) {
    return !tock_failed(returned) || tm_fail_with(run, call, returned);
}

#define TM_NO_CONTROLS (1U << 31)

/* What the link command says of the whole run (crt0.S). */
struct tm_link {
    uint32_t apps; /* how many apps of the boot report */
    uint32_t
        steady_stop; /* end a row whose samples repeat from the first on, as with the cache off */
    uint32_t scene;  /* which boot this is, 0 in an ordinary one */
    uint32_t slot;   /* where this app is in the order of the flash, from 0 */
    uint32_t slots;  /* how many apps there are */
    uint32_t most_samples; /* take no more of a row; 0: as many as it asks for */
    uint32_t only;         /* of the app's benchmarks only these, a bit each in their order; 0: all.
                              With TM_NO_CONTROLS none of the rows that measure nothing */
    uint32_t image;        /* which image this is, for the begin and the end record */
    char boot[24];         /* the boot's name, with a NUL behind it */
};

extern const struct tm_link tm_link;

#endif
