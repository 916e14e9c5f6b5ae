/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Waits for an event without a subscription, then subscribes. By TRD 104 this cancels the pending
 * upcall. Then waits for the next upcall with yield-wait-for. */
#include "app.h"

static void note(int first, int second, int third, void *userdata) {
    (void)first;
    (void)second;
    (void)third;
    (void)userdata;
}

int main(void) {
    uint32_t missed = miss_alarm();
    if (!subscribe(ALARM, 0, note, NULL).success)
        return 1;
    uint32_t set = value_of(ALARM, ALARM_AFTER, 100);
    uint32_t got = yield_wait_for(ALARM, 0).data1;
    printf("ticks from the alarm that was missed to the one set: %lu\n", set - missed);
    printf("ticks from the alarm that was missed to that of the yield: %lu\n", got - missed);
    return 0;
}
