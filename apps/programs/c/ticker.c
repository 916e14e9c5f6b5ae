/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* An app beside a program: its alarm ends 250 times a second, every 96,000 cycles at 24 MHz, and it
 * sets the next one, which it counts from when the last one was due. */
#include "alarm.h"
#include "peer.h"

#define A_SECOND 250

static uint32_t period; /* in ticks of the kernel's alarm */

static void on_alarm(uint32_t now, uint32_t due, uint32_t zero, void *userdata) {
    (void)zero, (void)userdata;
    uint32_t late = now - due;
    tm_alarm_after(late < period ? period - late : period);
}

int main(void) {
    struct tock_return frequency = tm_alarm_frequency();
    period = frequency.word[0] / A_SECOND;
    if (tock_failed(frequency) || tock_failed(tm_alarm_subscribe(on_alarm, 0)) ||
        tock_failed(tm_alarm_after(period)))
        return 1;
    tm_peer_rest();
}
