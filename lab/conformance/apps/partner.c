/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The app partner: runs after endings has ended, and ends the run. */
#include "checks.h"

const struct identity identity = {"partner", 1, 0};

void run(void) {
    subscribe(ALARM, 0, note_upcall, 0);
    command(ALARM, 5, milliseconds(150), 0);
    yield();
#if TM_ABI != 1
    rule("V2-95"); /* endings has reported it if it is violated */
    expect(seen.count, 1);
    say("gone", "endings", NONE, NONE);
#endif
    finish();
}
