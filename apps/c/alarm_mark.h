/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Samples of an alarm, for the groups sched and irq: each sets one and sleeps until its upcall. The
 * times are the simulator's, by its marks (docs/simulator.md): the functions tm_mark_x are the
 * addresses that it marks as x.
 */
#ifndef TM_APPS_ALARM_MARK_H
#define TM_APPS_ALARM_MARK_H

#include "alarm.h"
#include "bench.h"

static volatile bool rang;

/* A sample begins here. */
__attribute__((noinline)) void tm_mark_arm(void) { __asm__ volatile(""); }

/* The alarm's upcall. */
void tm_mark_upcall(uint32_t now, uint32_t due, uint32_t zero, void *userdata) {
    (void)now, (void)due, (void)zero, (void)userdata;
    rang = true;
}

static bool alarm_setup(struct tm_run *run) {
    return tm_require(run, "alarm_subscribe", tm_alarm_subscribe(tm_mark_upcall, 0));
}

/* The times differ by a few ticks, so that the samples meet what runs beside at different points.
 */
static bool alarm_sample(struct tm_run *run) {
    static uint32_t frequency, taken;
    if (!frequency) {
        struct tock_return found = tm_alarm_frequency();
        if (!tm_require(run, "alarm_frequency", found))
            return false;
        frequency = found.word[0];
    }
    uint32_t ticks = frequency / 8192 + 2; /* 122 us, and two ticks */
    rang = false;
    tm_mark_arm();
    if (!tm_require(run, "alarm_set", tm_alarm_after(ticks + ticks * (taken++ % 32) / 64)))
        return false;
    while (!rang)
        tock_yield_wait();
    return true;
}

static bool alarm_finish(struct tm_run *run) {
    return tm_require(run, "alarm_unsubscribe", tm_alarm_subscribe(0, 0));
}

#endif
