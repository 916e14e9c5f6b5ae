/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The protocol between the apps victim and attacker: the scene selects the victim's work and the
 * attack of each attacker; all stop at the same time.
 */
#ifndef CONFORMANCE_AVAILABILITY_H
#define CONFORMANCE_AVAILABILITY_H

#include "report.h"

/* The scene's lowest four bits are the number of the work, the next four the first attacker's
 * attack, and so on. The tool has the same lists. */
enum work { LINES, PRINTS, ANSWERS, SUMS, ALARMS, UPCALLS, WORKS };
enum attack {
    NO_ATTACK, /* there is no attacker */
    WRITE,
    TAKE_BACK_BUFFER,
    PRINT,
    NOTIFY,
    COMPUTE,
    SET_ALARMS,
    WRITE_PRINT,
    TAKE_PRINT,
    RESTARTS,
    DISCOVER,
    SUBSCRIBE_ALL,
    MIX,
    ATTACKS,
};

/* Commands of the relay. */
enum { SEND_REQUEST = 0x10, CANCEL_REQUEST, ACCEPT_REQUESTS = 0x20 };

static inline uint32_t the_work(void) { return app_scene % 16; }

/* Attackers are in the slots after the victim, and after the service that it asks. */
static inline uint32_t the_attack(void) {
    uint32_t number = app_slot - (the_work() == ANSWERS);
    return app_scene >> 4 * number & 15;
}

static inline bool is_over(void) { return (int32_t)(now() - milliseconds(app_milliseconds)) >= 0; }

#endif
