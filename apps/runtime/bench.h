/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The benchmark harness: what an app of benchmarks consists of.
 *
 * An app is one `tm_app` with a table of benchmarks; main() is the harness's. A benchmark gives one
 * row for each value of its parameter, and a row goes like this:
 *
 *     setup      once: prepares the body, may give up by tm_skip() or tm_fail()
 *     samples    read counters, body, read counters; nothing else in between, no output
 *     finish     once: verifies what the body did, takes back what setup gave
 *     output     bench, data cycles, data instret; or fail; or skip
 *
 * After each sample, outside of it, the word that the body returned is compared with `expect`.
 */
#ifndef TM_RUNTIME_BENCH_H
#define TM_RUNTIME_BENCH_H

#include "bodies.h"
#include "tock.h"

#define TM_SAMPLES_MAX 1000

struct tm_run;

struct tm_bench {
    const char *id;    /* as in catalogue.toml */
    uint32_t samples;  /* how many, at most TM_SAMPLES_MAX */
    uint32_t inner;    /* operations in a sample, if setup does not say */
    tm_body *body;     /* what is measured, if setup does not say */
    uint32_t expect;   /* what body returns, if setup does not say */
    bool returns_any;  /* or it returns nothing that could be compared */
    const char *call;  /* the system call that the body makes, if one, for a fail record */
    const char *param; /* the parameter's name, if there is one */
    const uint32_t *values;
    uint32_t n_values;
    bool (*setup)(
        struct tm_run *run); /* hooks return false once tm_skip() or tm_fail() was called */
    bool (*finish)(struct tm_run *run);
};

/* The values of a parameter: .param = "size", TM_VALUES(32, 64), */
#define TM_VALUES(...)                                                                             \
    .values = (const uint32_t[]){__VA_ARGS__},                                                     \
    .n_values = sizeof((const uint32_t[]){__VA_ARGS__}) / sizeof(uint32_t)

/* One row while it is being measured. */
struct tm_run {
    const struct tm_bench *bench;
    uint32_t value; /* of the parameter */
    uint32_t inner;
    uint32_t expect;
    struct tm_shot shot; /* its body and arg are setup's to change; result is the last sample's */
    const char *skip_reason;
    const char *failed_call;
    const char *failed_error;
};

struct tm_app {
    const char *name;
    const struct tm_bench *benches;
    uint32_t n_benches;
};

#define TM_BENCHES(table) .benches = table, .n_benches = sizeof(table) / sizeof *(table)

/* Each app defines its own. */
extern const struct tm_app tm_app;

/* Give the row up, and say why: this kernel cannot run it, or a call failed. Both return false. */
bool tm_skip(struct tm_run *run, const char *reason);
bool tm_fail(struct tm_run *run, const char *call, const char *error);

/* A hook's check that what was measured also happened. */
bool tm_verify(struct tm_run *run, bool as_it_should);

/* What the link command says of the whole run (crt0.S). */
struct tm_link {
    uint32_t apps;        /* how many apps the run has */
    uint32_t steady_stop; /* end a row once its samples repeat, as they do on a simulator */
};

extern const struct tm_link tm_link;

#endif
