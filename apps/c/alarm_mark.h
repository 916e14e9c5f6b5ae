/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Samples of an alarm, for the groups sched and irq: each sets an alarm and sleeps until its
 * upcall. The simulator's marks give the times.
 */
#ifndef TM_APPS_ALARM_MARK_H
#define TM_APPS_ALARM_MARK_H

#include "bench.h"
#include "mark.h"
#include "peer.h"

static volatile bool rang;

/* The alarm's upcall. */
void tm_mark_upcall(uint32_t now, uint32_t due, uint32_t zero, void *userdata) {
    (void)now, (void)due, (void)zero, (void)userdata;
    rang = true;
}

/* Set the alarm and sleep until its upcall has run. */
static bool ring_after(struct tm_run *run, uint32_t ticks) {
    rang = false;
    if (!tm_require(run, "alarm_set", tm_alarm_after(ticks)))
        return false;
    while (!rang)
        tock_yield_wait();
    return true;
}

static uint32_t per_millisecond; /* ticks */
static uint32_t least;           /* ticks: the shortest alarm that comes while another app runs */

/*
 * An alarm must come when another app is already running, not while the kernel is still switching
 * to it: Tock 1.x masks the timer for good if the interrupt comes then, and the other app never
 * makes a call. The duration of that is estimated from alarms that are certainly late enough: how
 * much later than requested they are over.
 */
static bool alarm_setup(struct tm_run *run) {
    struct tock_return frequency = tm_alarm_frequency();
    uint32_t far = frequency.word[0] / 512 + 1;
    uint32_t way = 0;
    per_millisecond = frequency.word[0] / 1000;
    if (!tm_require(run, "alarm_frequency", frequency) ||
        !tm_require(run, "nap", tm_nap(TM_PEER_START_MS)) ||
        !tm_require(run, "alarm_subscribe", tm_alarm_subscribe(tm_mark_upcall, 0)))
        return false;
    for (int i = 0; i < 3; i++) {
        uint32_t begin = tm_alarm_now();
        if (!ring_after(run, far))
            return false;
        uint32_t later = tm_alarm_now() - begin - far;
        way = later > way ? later : way;
    }
    least = 3 * way + 2;
    return true;
}

/* The times differ by up to 256 us, so that the samples hit the other apps at any point. */
static bool alarm_sample(struct tm_run *run) {
    static uint32_t taken;
    uint32_t more = taken++ * 37 % 256 * per_millisecond / 1000;
    tm_mark_arm();
    return ring_after(run, least + more);
}

static bool alarm_finish(struct tm_run *run) {
    return tm_require(run, "alarm_unsubscribe", tm_alarm_subscribe(0, 0));
}

#endif
