/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The app rules: what any kernel with version 2 of the interface does; the files rules_*.c. */
#include "rules.h"

const struct identity identity = {"rules", 1, 0};

void run(void) {
    /* What no one has used before comes first: reports use the console. */
    check_first_use();
    check_subscribe();
    check_yield();
    check_command();
    check_allow_rw();
    check_allow_ro();
    check_memop();
    check_alarm();
    check_console();
    say("next", "V2-14", NONE, NONE); /* last, and said: there are kernels that stop the app */
    check_unknown_yield();
    finish();
}
