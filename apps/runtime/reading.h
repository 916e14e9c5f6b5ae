/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* A read of the counters by the app itself, for rows whose samples the sampler does not take
 * (TM_BY_READING). */
#ifndef TM_RUNTIME_READING_H
#define TM_RUNTIME_READING_H

#include "bench.h"

#define TM_NAME_OF(token) #token
#define TM_NAME(macro) TM_NAME_OF(macro)

/* Cycles, and instret or its replacement (asm/counter.h). In version 1, where a call reads one
 * counter, `first` is that counter. */
struct reading {
    uint32_t first, second;
};

/* Read the counters. In version 1 `counter` is the command of Perf. */
static inline __attribute__((always_inline)) struct reading take_reading(uint32_t counter) {
#if TM_ABI == 1
    return (struct reading){tock_call(TOCK_COMMAND, TM_PERF, counter, 0, 0), 0};
#elif defined(TM_CSR)
    (void)counter;
    struct reading now;
    __asm__ volatile(
        ".option push\n\t.option arch, +zicsr\n\t"
        "csrr %0, " TM_NAME(TM_CSR_CYCLES) "\n\tcsrr %1, " TM_NAME(TM_CSR_INSTRET) "\n\t.option pop"
        : "=&r"(now.first), "=r"(now.second)
        :
        : "memory");
    return now;
#else
    (void)counter;
    struct tock_return both = tock_command(TM_READ_DRIVER, TM_READ_COMMAND, 0, 0);
    return (struct reading){both.word[0], both.word[1]};
#endif
}

/* Return the counter of the row's current pass, in version 1. */
static inline uint32_t counter_of(const struct tm_run *run) {
    (void)run;
    return TM_BY_ABI(run->shot.counter, 0);
}

/* Record the difference of two reads as the sample. */
static inline void put_sample(struct tm_run *run, struct reading from, struct reading to) {
    run->shot.cycles = to.first - from.first;
#if TM_ABI == 2
    run->shot.instret = to.second - from.second;
#endif
}

#endif
