/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Code that the apps of this folder share. Each app shows a fault of a kernel that a text in
 * lab/upstream/ describes.
 *
 * The apps are written for libtock-c: copy this file into an app's folder, and one of the others as
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
#define ALARM_AFTER 5 /* ticks from now */

#define IPC 0x10000
#define IPC_FIND 1
#define IPC_NOTIFY_SERVICE 2

#define OTHERS_BEGIN_MS 5 /* by then all other apps have finished their first steps */

/* Return the status code of a call: 0, or its error. */
static inline uint32_t status_of(syscall_return_t got) {
    return got.type < TOCK_SYSCALL_SUCCESS ? got.data[0] : 0;
}

/* Return the value of a command that is known to succeed. */
static inline uint32_t value_of(uint32_t driver, uint32_t number, uint32_t argument) {
    return command(driver, number, (int)argument, 0).data[0];
}

/* Sleep for this many ticks. No upcall runs during the sleep. */
static inline void nap_ticks(uint32_t ticks) {
    value_of(ALARM, ALARM_AFTER, ticks);
    yield_wait_for(ALARM, 0);
}

static inline void nap_ms(uint32_t ms) {
    nap_ticks(value_of(ALARM, ALARM_FREQUENCY, 0) / 1000 * ms + 1);
}

/* Return the number that IPC gives to the app of this name. */
static inline uint32_t find_app(const char *name) {
    if (!allow_readonly(IPC, 0, name, strlen(name)).success)
        printf("there is no IPC\n");
    return value_of(IPC, IPC_FIND, 0);
}

/* Wait until an alarm without a subscription is due. Return its time, in ticks. */
static inline uint32_t miss_alarm(void) {
    uint32_t due = value_of(ALARM, ALARM_AFTER, 10);
    while ((int32_t)(value_of(ALARM, ALARM_NOW, 0) - due) < 0)
        ;
    value_of(ALARM, ALARM_NOW, 0); /* enter the kernel again, so that it handles the interrupt */
    return due;
}

#endif
