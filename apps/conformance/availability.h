/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * What the apps victim and attacker agree on: the scene says what the one works at and what the
 * others do meanwhile, and all stop at the same time.
 */
#ifndef CONFORMANCE_AVAILABILITY_H
#define CONFORMANCE_AVAILABILITY_H

#include "report.h"

/* The scene is the number of the work, and 16 times that of the attack; the tool has the same
 * lists. */
enum work { LINES, PRINTS, ANSWERS, SUMS, ALARMS, UPCALLS, WORKS };
enum attack {
    NO_ATTACK, /* there is no attacker */
    WRITE,
    TAKE_BACK_BUFFER,
    PRINT,
    NOTIFY,
    COMPUTE,
    SET_ALARMS,
    ATTACKS,
};

static inline uint32_t the_work(void) { return app_scene % 16; }
static inline uint32_t the_attack(void) { return app_scene / 16; }

static inline bool is_over(void) { return (int32_t)(now() - milliseconds(app_milliseconds)) >= 0; }

#endif
