/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Sleeps for a tenth of a second by the frequency that the alarm announces, and then forever. The
 * cycles of the boot, or a watch, show how long the first sleep took. */
#include "app.h"

int main(void) {
    uint32_t hertz = value_of(ALARM, ALARM_FREQUENCY, 0);
    printf("ticks a second that the alarm announces: %lu\n", hertz);
    printf("ticks to sleep: %lu\n", hertz / 10);
    nap_ticks(hertz / 10);
    printf("awake\n");
    return 0;
}
