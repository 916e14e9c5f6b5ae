/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * An app that runs next to a program: its alarm is due every 96,000 cycles, counted from the last
 * due time.
 *
 * It measures the number of ticks with the core's cycle counter, since the kernel's own rate may be
 * wrong (lab/upstream/alarm-rate.md).
 */
#include "alarm.h"
#include "peer.h"

#define PERIOD_CYCLES 96000
#define FROM 6    /* the alarm's command: `ticks` after a time in the past */
#define PERIODS 3 /* measured periods: a tick may be a tenth of one */

static uint32_t period; /* in ticks of the kernel's alarm */

static uint32_t cycles(void) { return tock_command(TM_PERF, TM_PERF_CYCLES, 0, 0).word[0]; }

/* The reference is the due time, so that the time until this call adds nothing to the period. */
static void on_alarm(uint32_t now, uint32_t due, uint32_t zero, void *userdata) {
    (void)zero, (void)userdata;
    uint32_t missed = (now - due) / period;
    tock_command(TOCK_ALARM, FROM, due + missed * period, period);
}

int main(void) {
    uint32_t from = cycles(), first = tm_alarm_now();
    while (cycles() - from < PERIODS * PERIOD_CYCLES)
        ;
    period = (tm_alarm_now() - first + 1) / PERIODS;
    if (!period || tock_failed(tm_alarm_subscribe(on_alarm, 0)) ||
        tock_failed(tm_alarm_after(period)))
        return 1;
    tm_peer_rest();
}
