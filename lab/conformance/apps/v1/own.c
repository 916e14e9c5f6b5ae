/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The app own: the baseline kernel's behaviour where version 1 of the interface leaves a choice. */
#include "checks.h"

const struct identity identity = {"own", 1, 0};

static void check_unknown(void) {
    rule("V1-3");
    for (uint32_t class = 5; class; class <<= 1)
        expect_error(call(class, ALARM, 2, 0, 0), NOSUPPORT);
}

static void check_alarm(void) {
    rule("V1-62");
    subscribe(ALARM, 0, note_upcall, 5);
    uint32_t wait = milliseconds(2);
    command(ALARM, 5, wait, 0);
    yield();
    uint32_t start = now();
    expect(command(ALARM, 6, start, wait).a0, start + wait);
    yield();
    expect(seen.count, 2);
    expect_true(now() - start >= wait);
}

enum { WAITING = 4 }; /* equal upcalls */

static void check_perf(void) {
    rule("V1-66");
    expect(command(PERF, 0, 0, 0).a0, 0);
    uint32_t first = command(PERF, 1, 0, 0).a0, second = command(PERF, 1, 0, 0).a0;
    expect_true(second - first > 100 && second - first < 2000);
    first = command(PERF, 2, 0, 0).a0;
    second = command(PERF, 2, 0, 0).a0;
    expect_true(second - first > 60 && second - first < 300);
    for (uint32_t number = 3; number < 8; number++)
        expect_error(command(PERF, number, 0, 0), NOSUPPORT);
    expect_error(command(PERF, 9, 0, 0), NOSUPPORT);

    rule("V1-67");
    forget_upcalls();
    subscribe(PERF, 0, note_upcall, 3);
    for (uint32_t i = 0; i < WAITING; i++)
        expect(command(PERF, 8, i, 0).a0, 0);
    expect_error(command(PERF, 8, WAITING, 0), NOMEM);
    subscribe(CONSOLE, 1, note_upcall, 4);
    expect(command(CONSOLE, 1, 0, 0).a0, 0);
    expect_error(command(CONSOLE, 1, 0, 0), NOMEM);
    for (uint32_t i = 0; i <= WAITING; i++)
        yield();
    expect(seen.count, WAITING + 1);
    for (uint32_t i = 0; i < WAITING; i++)
        expect(seen.calls[i].a2, i);
    expect(seen.calls[WAITING].a3, 4);
    subscribe(CONSOLE, 1, 0, 0);
    subscribe(PERF, 0, 0, 0);
}

static void check_console(void) {
    static uint8_t line[100];
    for (uint32_t i = 0; i < sizeof line; i++)
        line[i] = i + 1 < sizeof line ? '.' : '\n';

    rule("V1-68");
    forget_upcalls();
    allow(CONSOLE, 1, line, sizeof line);
    subscribe(CONSOLE, 1, note_upcall, 6);
    expect(command(CONSOLE, 1, sizeof line, 0).a0, 0);
    expect_error(command(CONSOLE, 1, 1, 0), BUSY);
    yield();
    expect(seen.calls[0].a0, sizeof line);
}

void run(void) {
    check_unknown();
    check_alarm();
    check_perf();
    check_console();
    finish();
}
