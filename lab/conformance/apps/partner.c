/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The app partner: runs on when endings has ended, and closes the run. */
#include "checks.h"

const struct identity identity = {"partner", 1, 0};

void run(void) {
    subscribe(ALARM, 0, note_upcall, 0);
    command(ALARM, 5, milliseconds(150), 0);
    yield();
#if TM_ABI != 1
    rule("V2-95"); /* endings would have said that it is wrong */
    expect(seen.count, 1);
    say("gone", "endings", NONE, NONE);
#endif
    finish();
}
