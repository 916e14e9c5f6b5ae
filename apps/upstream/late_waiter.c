/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Sets an alarm again and again, and counts those that come late. It stands first, so that on the
 * priority scheduler no other app keeps it from running. */
#include "alarm.h"
#include "say.h"

#define ALARMS 300
#define TICKS 5
#define FAR 5 /* ticks: what two system calls and an upcall take is less */

static volatile bool fired;

static void fire(uint32_t first, uint32_t second, uint32_t third, void *userdata) {
    (void)first;
    (void)second;
    (void)third;
    (void)userdata;
    fired = true;
}

int main(void) {
    uint32_t late = 0, most = 0;
    tm_alarm_subscribe(fire, 0);
    for (uint32_t i = 0; i < ALARMS; i++) {
        fired = false;
        uint32_t due = tm_alarm_after(TICKS).word[0];
        while (!fired)
            tock_yield_wait();
        uint32_t behind = tm_alarm_now() - due;
        late += behind > FAR;
        most = behind > most ? behind : most;
    }
    say_number("alarms: ", ALARMS);
    say_number("more than 5 ticks late: ", late);
    say_number("ticks that the latest was late: ", most);
    return 0;
}
