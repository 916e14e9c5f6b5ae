/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Sleeping by the alarm. */
#include "alarm.h"

static void tm_alarm_rang(uint32_t now, uint32_t due, uint32_t zero, void *userdata) {
    (void)now, (void)due, (void)zero;
    *(volatile bool *)userdata = true;
}

struct tock_return tm_nap(uint32_t milliseconds) {
    volatile bool over = false;
    struct tock_return frequency = tm_alarm_frequency();
    if (tock_failed(frequency))
        return frequency;
    struct tock_return done = tm_alarm_subscribe(tm_alarm_rang, (void *)&over);
    if (!tock_failed(done))
        done = tm_alarm_after(frequency.word[0] / 1000 * milliseconds + 1);
    while (!tock_failed(done) && !over)
        tock_yield_wait();
    struct tock_return last = tm_alarm_subscribe(0, 0); /* `over` is on this stack frame */
    return tock_failed(done) ? done : last;
}
