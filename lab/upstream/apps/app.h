/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* What the apps of this folder share. They show faults of a kernel, for the texts in
 * lab/upstream/.
 *
 * They are written for libtock-c: there, an app's folder has this file, and one of the others as
 * its main.c. Here `make upstream` builds them with our runtime (shim/), and
 * tockmark-lab reproduce runs them. */
#ifndef UPSTREAM_APP_H
#define UPSTREAM_APP_H

#include <libtock/tock.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define ALARM 0x0
#define ALARM_FREQUENCY 1
#define ALARM_NOW 2
#define ALARM_AFTER 5 /* so many ticks */

#define IPC 0x10000
#define IPC_FIND 1
#define IPC_NOTIFY_SERVICE 2

#define OTHERS_BEGIN_MS 5 /* by then all other apps have done what they begin with */

/* The status code of a call: 0, or what error it returned. */
static inline uint32_t status_of(syscall_return_t got) {
    return got.type < TOCK_SYSCALL_SUCCESS ? got.data[0] : 0;
}

/* What a command returns, which is known to succeed. */
static inline uint32_t value_of(uint32_t driver, uint32_t number, uint32_t argument) {
    return command(driver, number, (int)argument, 0).data[0];
}

/* Sleep for so many ticks; no upcall runs meanwhile. */
static inline void nap_ticks(uint32_t ticks) {
    value_of(ALARM, ALARM_AFTER, ticks);
    yield_wait_for(ALARM, 0);
}

static inline void nap_ms(uint32_t ms) {
    nap_ticks(value_of(ALARM, ALARM_FREQUENCY, 0) / 1000 * ms + 1);
}

/* The number by which IPC knows the app of this name. */
static inline uint32_t find_app(const char *name) {
    if (!allow_readonly(IPC, 0, name, strlen(name)).success)
        printf("there is no IPC\n");
    return value_of(IPC, IPC_FIND, 0);
}

/* Let an alarm fall due to which nobody has subscribed; when that was, in ticks. */
static inline uint32_t miss_alarm(void) {
    uint32_t due = value_of(ALARM, ALARM_AFTER, 10);
    while ((int32_t)(value_of(ALARM, ALARM_NOW, 0) - due) < 0)
        ;
    value_of(ALARM, ALARM_NOW, 0); /* one more entry into the kernel, which takes the interrupt */
    return due;
}

#endif
