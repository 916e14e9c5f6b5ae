/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The alarm, in both versions of the interface. Its upcall may come at any later yield. */
#ifndef TM_RUNTIME_ALARM_H
#define TM_RUNTIME_ALARM_H

#include "tock.h"

/* Return the ticks per second. */
static inline struct tock_return tm_alarm_frequency(void) {
    return tock_command(TOCK_ALARM, TOCK_ALARM_FREQUENCY, 0, 0);
}

/* Return the time in ticks, low half. */
static inline uint32_t tm_alarm_now(void) {
#if TM_ABI == 1
    return tock_call(TOCK_COMMAND, TOCK_ALARM, TOCK_ALARM_NOW, 0, 0);
#else
    return tock_command(TOCK_ALARM, TOCK_ALARM_NOW, 0, 0).word[0];
#endif
}

/* Set the alarm `ticks` from now. Version 1 takes an absolute time, and its result is ignored: it
 * may be that time, and times in the upper half of the range look like errors. */
static inline struct tock_return tm_alarm_after(uint32_t ticks) {
#if TM_ABI == 1
    tock_call(TOCK_COMMAND, TOCK_ALARM, TOCK_ALARM_AT, tm_alarm_now() + ticks, 0);
    return (struct tock_return){TOCK_SUCCESS, {0, 0, 0}};
#else
    return tock_command(TOCK_ALARM, TOCK_ALARM_AFTER, ticks, 0);
#endif
}

static inline struct tock_return tm_alarm_subscribe(tock_upcall *function, void *userdata) {
    return tock_subscribe(TOCK_ALARM, TOCK_ALARM_UPCALL, function, userdata);
}

/* Sleep for at least this many milliseconds; other apps may run. Return the first call that failed,
 * or success. */
struct tock_return tm_nap(uint32_t milliseconds);

#endif
