/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The app sched: how late an alarm's upcall comes, with nothing beside this app, with one that
 * spins (spinner.c), and with two that do IPC (pinger.c, ipc_server.c); and for how long a time
 * slice of another app (spinner.c) takes this one off the core.
 */
#include "alarm_mark.h"

enum { JUMP = 8, PATIENCE = 1000000 };

struct moment {
    uint32_t first, second; /* cycles and instret; on version 1 the counter that is asked for */
};

static inline struct moment moment(const struct tm_run *run) {
#if TM_ABI == 1
    return (struct moment){tock_call(TOCK_COMMAND, TM_PERF, run->shot.counter, 0, 0), 0};
#else
    (void)run;
    struct tock_return both = tock_command(TM_PERF, TM_PERF_BOTH, 0, 0);
    return (struct moment){both.word[0], both.word[1]};
#endif
}

/* Reads the counter until it jumps by JUMP times the least that a reading takes. */
static bool sample_jump(struct tm_run *run) {
    uint32_t least = UINT32_MAX;
    struct moment start = moment(run), last = start;
    for (;;) {
        struct moment now = moment(run);
        uint32_t passed = now.first - last.first;
        if (least != UINT32_MAX && passed / JUMP > least) {
            run->shot.cycles = passed;
#if TM_ABI == 2
            run->shot.instret = now.second - last.second;
#endif
            return true;
        }
        least = passed < least ? passed : least;
        if (now.first - start.first > PATIENCE)
            return tm_skip(run, "this kernel has no time slices");
        last = now;
    }
}

TM_BENCH(sched_alarm_lateness, .from = "irq", .to = "upcall", .setup = alarm_setup,
         .sample = alarm_sample, .finish = alarm_finish);
TM_BENCH(sched_preempted, .all_samples = true, .sample = sample_jump);
TM_APP(sched);
