/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Sets an alarm again and again, and counts the late ones. It is the first app, so that under the
 * priority scheduler no other app delays it. */
#include "app.h"

#define ALARMS 300
#define TICKS 5
#define FAR 5 /* ticks; two system calls and an upcall take less */

static volatile bool fired;

static void fire(int first, int second, int third, void *userdata) {
    (void)first;
    (void)second;
    (void)third;
    (void)userdata;
    fired = true;
}

int main(void) {
    uint32_t late = 0, most = 0;
    if (!subscribe(ALARM, 0, fire, NULL).success)
        return 1;
    for (uint32_t i = 0; i < ALARMS; i++) {
        fired = false;
        uint32_t due = value_of(ALARM, ALARM_AFTER, TICKS);
        while (!fired)
            yield();
        uint32_t behind = value_of(ALARM, ALARM_NOW, 0) - due;
        late += behind > FAR;
        most = behind > most ? behind : most;
    }
    printf("alarms: %lu\n", (uint32_t)ALARMS);
    printf("more than 5 ticks late: %lu\n", late);
    printf("ticks that the latest was late: %lu\n", most);
    return 0;
}
