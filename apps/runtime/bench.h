/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The benchmark harness: the definition of benchmarks and apps.
 *
 * An app is its group's benchmarks; main() belongs to the harness. A benchmark gives one row per
 * value of its parameters. A row is measured in these steps:
 *
 *     setup      once: prepares the body; may give up with tm_skip() or tm_fail()
 *     samples    `before` runs outside the sample; then read counters, body, read counters: nothing
 *                else in between, no output
 *     finish     once: verifies the body's work, undoes setup
 *     output     bench, data …; or fail; or skip
 *
 * After each sample, outside of it, the harness compares the word that the body returned with
 * `expect`.
 *
 * An ordinary benchmark runs in scene 0, where its app runs alone. Others need more apps:
 * catalogue.toml describes these boots, each with a number, its scene. Several benchmarks may share
 * a scene.
 */
#ifndef TM_RUNTIME_BENCH_H
#define TM_RUNTIME_BENCH_H

#include "bodies.h"
#include "tock.h"

#define TM_PARAMS_MAX 2

/* The methods of taking a row's samples. Each has a row that measures nothing with it (own.c,
 * own_reading.c). */
enum tm_by {
    TM_BY_SAMPLER, /* tm_sample() calls a body */
    TM_BY_READING, /* the row's own code reads the counters: reading.h */
    TM_BY_MARK,    /* the simulator's clock, between two marks (docs/contributing.md) */
};

struct tm_run;
typedef bool tm_hook(struct tm_run *run); /* returns false after tm_skip() or tm_fail() */

/* A parameter. Its values are numbers, or names; hooks use a name's index (TM_INDEX_x_p_v). */
struct tm_param {
    const char *name;
    const uint32_t *numbers;
    const char *const *names;
    uint32_t count;
};

struct tm_bench {
    /* From the catalogue: TM_ROW_x of rows.h. */
    const char *id;
    uint32_t samples; /* at most TM_SAMPLES_MAX */
    uint32_t inner;   /* operations per sample */
    enum tm_by by;
    uint32_t passes; /* extra calls of the body, to measure its slope; 0: none */
    uint32_t scenes; /* the scenes it runs in, one bit each; bit 0: its app alone. In one scene: all
                        values; in several: the first parameter's i-th value in the i-th scene */
    const char *skip; /* why it does not run in this version */
    struct tm_param params[TM_PARAMS_MAX];

    /* From the definition. */
    tm_body *body;      /* the code under test; setup may change it */
    uint32_t expect;    /* the body's result; setup may change it */
    bool returns_any;   /* the body's result cannot be compared */
    const char *call;   /* the system call that the body makes, for a fail record */
    const char *from;   /* with marks: the sample is the simulator's time from this mark */
    const char *to;     /* to this one; setup may change it. The app prints no samples */
    uint32_t events_to; /* count events up to this parameter value; 0: for all */
    bool all_samples;   /* a distribution, which never ends early */
    tm_hook *setup;
    tm_hook *before;
    tm_hook *sample; /* takes the sample instead of the sampler, and puts it into run->shot */
    tm_hook *finish;
};

/*
 * A definition, by its id with "_" instead of the dot, and the app of a group. An app that does not
 * define exactly the catalogue's benchmarks does not compile.
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
    uint32_t samples;              /* how many to take */
    uint32_t passes;               /* extra calls of the body, if any row of this boot has some */
    uint32_t expect;
    const char *to;      /* with marks: the mark at which a sample ends */
    struct tm_shot shot; /* setup may change body and arg; the result is the last sample's */
    const char *skip_reason;
    const char *failed_call;
    const char *failed_error;
};

struct tm_app {
    const char *name;
    const char *lang; /* "c", or the language of another app with this harness */
    const char *cc;   /* the compiler and the flags that shape the code */
    const struct tm_bench *const *benches;
    uint32_t n_benches;
};

/* Each app defines its own. */
extern const struct tm_app tm_app;

/* The rows that the harness measures in every app (own.c; own_reading.c is only for C apps, since
 * it uses their reading). First the overhead of each method, which the tool subtracts; last the
 * controls, which measure nothing with the same methods. */
extern const struct tm_bench tm_bench_time_read, tm_bench_time_reading;
extern const struct tm_bench tm_bench_null_sample, tm_bench_null_reading;

/* At the end of an app's file: the app needs this many bytes of RAM (a plain number) in addition to
 * its own. It gets them from tock_more_ram() if the kernel has them. */
#define TM_HEAP(bytes) __asm__(".globl tm_heap\n\t.set tm_heap, " #bytes)

/* Give up the row with a reason: this kernel cannot run it, or a call failed. All return false. */
bool tm_skip(struct tm_run *run, const char *reason);
bool tm_fail(struct tm_run *run, const char *call, const char *error);
bool tm_fail_with(struct tm_run *run, const char *call, struct tock_return returned);

/* Check in a hook that the measured operation happened. */
bool tm_verify(struct tm_run *run, bool as_it_should);

/* Check in a hook that a call succeeded. */
static inline bool tm_require(struct tm_run *run, const char *call, struct tock_return returned) {
    return !tock_failed(returned) || tm_fail_with(run, call, returned);
}

#define TM_NO_CONTROLS (1U << 31)

/* The settings of the whole run, which the link command defines (crt0.S). */
struct tm_link {
    uint32_t apps; /* how many apps of the boot print records */
    uint32_t
        steady_stop; /* end a row whose samples repeat from the first on, as with the cache off */
    uint32_t scene;  /* the scene of this boot; 0 in an ordinary one */
    uint32_t slot;   /* this app's index in the order of flash */
    uint32_t slots;  /* how many apps there are */
    uint32_t most_samples; /* the most samples of a row; 0: no limit */
    uint32_t only;         /* the app's benchmarks to run, one bit each in their order; 0: all. With
                              TM_NO_CONTROLS, no rows that measure nothing */
    uint32_t image;        /* the image's number, for the begin and the end record */
    char boot[24];         /* the boot's name, terminated by NUL */
};

extern const struct tm_link tm_link;

#endif
