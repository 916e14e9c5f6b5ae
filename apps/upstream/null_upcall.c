/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* What becomes of an upcall that nobody had subscribed to when it came. Scene 0: a yield-no-wait,
 * of which TRD 104 wants that it returns at once. Scene 1: a subscribe, of which it wants that it
 * cancels the upcall, and a yield-wait-for. */
#include "alarm.h"
#include "say.h"

#define TICKS 10

extern const uint32_t tm_link[]; /* the linker's words; the third is the scene: runtime/crt0.S */

static void note(uint32_t first, uint32_t second, uint32_t third, void *userdata) {
    (void)first;
    (void)second;
    (void)third;
    *(volatile bool *)userdata = true;
}

static bool noted;

/* Let an alarm fire that has the null upcall; when it fell due, in ticks. */
static uint32_t miss_alarm(void) {
    uint32_t due = tm_alarm_after(TICKS).word[0];
    while ((int32_t)(tm_alarm_now() - due) < 0)
        ;
    tm_alarm_now(); /* one more entry into the kernel, which takes the interrupt */
    return due;
}

int main(void) {
    uint32_t missed = miss_alarm();
    if (tm_link[2] == 0) {
        say("yield-no-wait ...\n");
        missed = miss_alarm();
        say_number("returned, and says that upcalls ran: ", tock_yield_no_wait());
        return 0;
    }
    tm_alarm_subscribe(note, &noted);
    uint32_t set = tm_alarm_after(10 * TICKS).word[0];
    uint32_t got = tock_yield_wait_for(TOCK_ALARM, TOCK_ALARM_UPCALL).word[0];
    say_number("ticks from the alarm that was missed to the one set: ", set - missed);
    say_number("ticks from the alarm that was missed to that of the yield: ", got - missed);
    return 0;
}
