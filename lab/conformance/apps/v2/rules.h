/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The parts of the app rules, and the functions that they share. */
#ifndef CONFORMANCE_RULES_H
#define CONFORMANCE_RULES_H

#include "checks.h"

void check_first_use(void);
void check_subscribe(void);
void check_yield(void);
void check_command(void);
void check_allow_rw(void);
void check_allow_ro(void);
void check_memop(void);
void check_alarm(void);
void check_console(void);
void check_unknown_yield(void);

/* Sets the alarm `ms` milliseconds from now. */
static inline void set_alarm(uint32_t ms) { command(ALARM, 5, milliseconds(ms), 0); }

/* Makes an upcall of the alarm wait. */
static inline void make_upcall_wait(void) {
    set_alarm(1);
    spin(milliseconds(2));
}

/* Addresses outside the app: null, the boot ROM, the kernel's flash and RAM, a device. */
extern const uint32_t foreign[];
enum { FOREIGN = 6 };

#endif
