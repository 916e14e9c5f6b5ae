/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The app sleeper: sets an alarm and sleeps until its upcall, again and again, and in the end
 * prints the ticks at which the alarms were due. Only the simulator's marks show when each stage
 * was reached; two of the marks are here.
 *
 * No app disturbs the first alarms, which show the cycle of each tick.
 */
#include "disturbances.h"
#include "mark.h"

const struct identity identity = {"sleeper", 1, 0};

/* In the app hasty the alarms are due in the next tick of Tock's clock, at different times after
 * the call that sets them. */
#ifndef SOON
enum { PART = 5000, COMPUTE = 29, COMPUTES = 59, APART = 128 }; /* of a second; turns; us */
#else
enum { PART = 10000, COMPUTE = 149, COMPUTES = 997, APART = 1 };
#endif
enum { QUIET = 4, MOST = 1024, LINE_WORDS = 6, DIGITS = 11 };

static uint32_t dues[QUIET + MOST];
static volatile uint32_t rang, due;

TM_MARK(arm)

/* The alarm's upcall. */
void tm_mark_upcall(uint32_t now, uint32_t at, uint32_t zero, uint32_t userdata) {
    (void)now, (void)zero, (void)userdata;
    due = at;
    rang = true;
}

static uint32_t ring_after(uint32_t ticks) {
    rang = false;
    tm_mark_arm();
    command(ALARM, 5, ticks, 0);
    while (!rang)
        yield();
    return due;
}

/* Print records of numbers, LINE_WORDS per record. Each number is printed as the difference from
 * the previous one, which takes fewer lines. */
static void say_dues(const char *kind, const uint32_t *first, uint32_t count, uint32_t before) {
    char words[LINE_WORDS * DIGITS];
    while (count) {
        uint32_t some = 0, at = 0;
        for (; some < count && at < sizeof words - DIGITS; some++) {
            char digits[DIGITS];
            uint32_t value = first[some] - before, length = 0;
            before = first[some];
            do
                digits[length++] = '0' + value % 10;
            while (value /= 10);
            while (length)
                words[at++] = digits[--length];
            words[at++] = ' ';
        }
        words[at - 1] = '\0';
        say(kind, words, NONE, NONE);
        first += some;
        count -= some;
    }
}

void run(void) {
    uint32_t start = now(), count = app_calls < MOST ? app_calls : MOST;
    uint32_t second = value_of(command(ALARM, 1, 0, 0)), least = second / PART;
    subscribe(ALARM, 0, tm_mark_upcall, 0);
    for (uint32_t i = 0; i < QUIET; i++)
        dues[i] = ring_after(least + 1 + i);
    while (now() - start < milliseconds(2 * BEGIN_MS))
        ring_after(milliseconds(1));
    /* Up to 128 us apart, and after some computing, so that the alarms hit the other apps at any
     * point. The image sets where this sequence starts: several boots cover more of it than one has
     * room for. */
    for (uint32_t i = 0; i < count; i++) {
        uint32_t at = app_step + i;
        for (volatile uint32_t n = at * COMPUTE % COMPUTES; n; n--)
            ;
        dues[QUIET + i] = ring_after(least + at * 37 % APART * (second / 1000) / 1000);
    }
    say_dues("quiet", dues, QUIET, 0);
    say_dues("due", dues + QUIET, count, dues[QUIET - 1]);
    finish();
}
