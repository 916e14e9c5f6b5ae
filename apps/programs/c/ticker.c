/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* An app beside a program: its alarm ends every ten ticks, which are 96,000 cycles on Earl Grey, and
 * it sets the next one. */
#include "alarm.h"
#include "peer.h"

#define TICKS 10

static void on_alarm(uint32_t now, uint32_t due, uint32_t zero, void *userdata) {
    (void)now, (void)due, (void)zero, (void)userdata;
    tm_alarm_after(TICKS);
}

int main(void) {
    if (tock_failed(tm_alarm_subscribe(on_alarm, 0)) || tock_failed(tm_alarm_after(TICKS)))
        return 1;
    tm_peer_rest();
}
