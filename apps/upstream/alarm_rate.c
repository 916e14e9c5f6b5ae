/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Sleeps for a tenth of a second by the frequency that the alarm announces, and then for good: the
 * cycles that the boot took say how long that was. */
#include "alarm.h"
#include "say.h"

int main(void) {
    uint32_t hertz = tm_alarm_frequency().word[0];
    say_number("ticks a second that the alarm announces: ", hertz);
    say_number("ticks to sleep: ", hertz / 10);
    tm_nap(100);
    say("awake\n");
    return 0;
}
