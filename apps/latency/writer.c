/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The app writer: writes a short line and sleeps until its upcall, again and again. Only the
 * simulator's marks show when the UART had sent the line and when each stage after that was
 * reached; two of the marks are here.
 */
#include "disturbances.h"
#include "mark.h"

const struct identity identity = {"writer", 1, 0};

enum { LINE = 8 }; /* the tool also has this length (tockmark/latency/run.py) */

static const char line[LINE] = "-------\n";
static volatile uint32_t written;

TM_MARK(arm)

/* The write's upcall. */
void tm_mark_upcall(uint32_t length, uint32_t second, uint32_t third, uint32_t userdata) {
    (void)length, (void)second, (void)third, (void)userdata;
    written = true;
}

static void write_line(void) {
    written = false;
    tm_mark_arm();
    command(CONSOLE, 1, LINE, 0);
    while (!written)
        yield();
}

void run(void) {
    uint32_t start = now();
    subscribe(CONSOLE, 1, tm_mark_upcall, 0);
    allow_ro(CONSOLE, 1, line, LINE);
    /* These do not count: no app disturbs yet. */
    while (now() - start < milliseconds(2 * BEGIN_MS))
        write_line();
    /* The computing before each write makes it hit the other apps at any point. */
    for (uint32_t i = 0; i < app_calls; i++) {
        for (volatile uint32_t n = (app_step + i) * 149 % 509; n; n--)
            ;
        write_line();
    }
    finish();
}
