/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * An app that runs next to instances (instance.c). Its alarm is due at multiples of 96,000 cycles,
 * and it notes how many ticks late it woke, whether the alarm came late or was set late. When the
 * core has slept for most of a period, the instances are done. Then it prints each lateness in
 * cycles, how often it occurred, and the length of a tick.
 */
#include "alarm.h"
#include "peer.h"
#include "reading.h"

#include <stdio.h>

#define PERIOD_CYCLES 96000
#define PERIODS 3 /* measured: a tick may be a tenth of one (lab/upstream/alarm-rate.md) */
#define KINDS 64

static struct { uint32_t ticks, times; } late[KINDS];
static uint32_t kinds;
static uint32_t period; /* in ticks */
static volatile bool rang;

static void on_alarm(uint32_t now, uint32_t due, uint32_t zero, void *userdata) {
    (void)now, (void)due, (void)zero, (void)userdata;
    rang = true;
}

static uint32_t cycles(void) { return take_reading(0).first; }

/* Returns false if the table is full. */
static bool note(uint32_t ticks) {
    uint32_t i = 0;
    while (i < kinds && late[i].ticks != ticks)
        i++;
    if (i == KINDS)
        return false;
    kinds += i == kinds;
    late[i].ticks = ticks;
    late[i].times++;
    return true;
}

static void say(const char *what, uint32_t value, uint32_t times) {
    static char line[64];
    int length = snprintf(line, sizeof line, "alarm %s %lu %lu\n", what, (unsigned long)value,
                          (unsigned long)times);
    tm_console_write(line, (uint32_t)length);
}

int main(void) {
    uint32_t from = cycles(), first = tm_alarm_now();
    while (cycles() - from < PERIODS * PERIOD_CYCLES)
        ;
    uint32_t passed = cycles() - from, ticks = tm_alarm_now() - first;
    period = (ticks * (PERIOD_CYCLES / 100) + passed / 200) / (passed / 100);
    if (!period || tock_failed(tm_alarm_subscribe(on_alarm, 0)))
        return 1;
    uint32_t woken = cycles(), last = tm_alarm_now(), due = last + period;
    for (;;) {
        rang = false;
        if (tock_failed(tm_alarm_after(due - last)))
            return 1;
        while (!rang)
            tock_yield_wait();
        uint32_t before = cycles(), now = tm_alarm_now();
        /* The core's counter stands still asleep. Others may run between two readings: only more
         * may seem to have passed. */
        if (cycles() - woken < (now - last) * (PERIOD_CYCLES / period / 2))
            break;
        if (!note(now - due))
            return 1;
        due += ((now - due) / period + 1) * period;
        last = now;
        woken = before;
    }
    uint32_t tick = (PERIOD_CYCLES + period / 2) / period;
    for (uint32_t i = 0; i < kinds; i++)
        say("late", late[i].ticks * tick, late[i].times);
    say("tick", tick, 1);
    return 0;
}
