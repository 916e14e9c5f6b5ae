/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The app sched: how late an alarm's upcall comes, with this app alone, next to an app that spins
 * (spinner.c), and next to two that do IPC (pinger.c, ipc_server.c); and how long another app's
 * time slice (spinner.c) takes this one off the core.
 */
#include "alarm_mark.h"
#include "reading.h"

enum { JUMP = 8, PATIENCE = 1000000 };

/* Read the counter until it jumps by JUMP times the shortest read. */
static bool sample_jump(struct tm_run *run) {
    uint32_t least = UINT32_MAX;
    struct reading start = take_reading(counter_of(run)), last = start;
    for (;;) {
        struct reading now = take_reading(counter_of(run));
        uint32_t passed = now.first - last.first;
        if (least != UINT32_MAX && passed / JUMP > least) {
            put_sample(run, last, now);
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
