/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The app neighbour: fills memory with a pattern, and checks it every few milliseconds until
 * another app asks it to stop. There is one on each side of the app that misbehaves.
 */
#include "checks.h"
#include "neighbours.h"

enum { WORDS = 256, PERIOD = 5 };

const struct identity identity = {"neighbour", 3, "neighbour2"};

static volatile uint32_t pattern[WORDS];
static volatile struct lent lent;
static volatile uint32_t behind = 0x0ffbea7; /* a window that is too large would expose it */
static volatile uint32_t wanted, sender;
static volatile bool rang;

static uint32_t expected(uint32_t index) { return (index + 1) * 0x9e3779b9 ^ app_slot; }

static void on_request(uint32_t from, uint32_t length, uint32_t address, uint32_t userdata) {
    (void)userdata;
    const volatile uint32_t *request = (const volatile uint32_t *)address;
    if (length < 8 || request[0] != REQUEST)
        return;
    wanted = request[1];
    sender = from;
}

static void on_alarm(uint32_t first, uint32_t second, uint32_t third, uint32_t userdata) {
    (void)first, (void)second, (void)third, (void)userdata;
    rang = true;
}

static bool is_whole(void) {
    for (uint32_t i = 0; i < WORDS; i++)
        if (pattern[i] != expected(i))
            return false;
    return behind == 0x0ffbea7 && lent.pattern == (uintptr_t)pattern;
}

static void serve(void) {
    uint32_t what = wanted;
    wanted = 0;
    if (what == LEND)
        share(sender, &lent, sizeof lent);
    if (what == TAKE_BACK)
        share(sender, 0, 0);
    if (what)
        notify_client(sender);
    if (what == STOP) {
        say("neighbour", is_whole() ? "whole" : "damaged", NUMBER("rounds", lent.rounds), NONE);
        finish();
    }
}

void run(void) {
    for (uint32_t i = 0; i < WORDS; i++)
        pattern[i] = expected(i);
    lent.pattern = (uintptr_t)pattern;
    be_service(on_request, 0);
    subscribe(ALARM, 0, on_alarm, 0);
    rang = true;
    for (;;) {
        if (rang) {
            rang = false;
            command(ALARM, 5, milliseconds(PERIOD), 0);
        }
        yield();
        if (!is_whole()) {
            say("neighbour", "damaged", NUMBER("rounds", lent.rounds), NONE);
            finish();
        }
        lent.rounds++;
        serve();
    }
}
