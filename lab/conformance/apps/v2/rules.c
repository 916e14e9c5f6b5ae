/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The app rules: the behaviour of any kernel with version 2 of the interface; files rules_*.c. */
#include "rules.h"

const struct identity identity = {"rules", 1, 0};

void run(void) {
    /* The checks of unused drivers come first, since reports use the console. */
    check_first_use();
    check_subscribe();
    check_yield();
    check_command();
    check_allow_rw();
    check_allow_ro();
    check_memop();
    check_alarm();
    check_console();
    say("next", "V2-14", NONE, NONE); /* last, and announced: some kernels stop the app */
    check_unknown_yield();
    finish();
}
