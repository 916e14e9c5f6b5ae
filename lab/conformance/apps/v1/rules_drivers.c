/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Version 1: memop and the drivers. */
#include "checks.h"

void check_memop(void);
void check_drivers(void);

static uint8_t line[150];

void check_memop(void) {
    uint32_t first = memop(1, 0).a0, start = memop(2, 0).a0, end = memop(3, 0).a0, here;

    rule("V1-40");
    expect(memop(0, first + 64).a0, 0);
    expect(memop(1, 0).a0, first + 64);
    *(volatile uint32_t *)first = 5;
    expect(*(volatile uint32_t *)first, 5);

    rule("V1-41");
    expect(memop(1, -64).a0, first + 64);
    expect(memop(1, 0).a0, first);

    rule("V1-42");
    expect_error(memop(0, end + 4), NOMEM);
    expect_error(memop(0, start - 4), NOMEM);
    expect_error(memop(1, 0x7fffffff), NOMEM);
    expect_error(memop(1, 0x80000000), NOMEM);
    expect(memop(1, 0).a0, first);

    rule("V1-43");
    expect_true(start <= (uintptr_t)&here && (uintptr_t)&here < end && first <= end);
    expect_true(memop(4, 0).a0 < (uintptr_t)check_memop);
    expect_true(memop(5, 0).a0 > (uintptr_t)check_memop);
    expect_true(first <= memop(6, 0).a0 && memop(6, 0).a0 <= end);
    expect(memop(7, 0).a0, 0);
    expect_error(memop(8, 0), FAIL);
    expect_error(memop(9, 0), FAIL);
    expect(memop(10, (uintptr_t)&here).a0, 0);
    expect(memop(11, first).a0, 0);

    rule("V1-44");
    expect_error(memop(12, 0), NOSUPPORT);
    expect_error(memop(0xffffffff, 0), NOSUPPORT);
}

static void check_alarm(void) {
    rule("V1-60");
    uint32_t frequency = command(ALARM, 1, 0, 0).a0, start = now();
    expect_true(frequency >= 1000);
    spin(2);
    expect_true(now() - start < frequency);

    rule("V1-61");
    forget_upcalls();
    subscribe(ALARM, 0, note_upcall, 5);
    start = now();
    uint32_t wait = milliseconds(2), due = start + wait;
    expect(command(ALARM, 4, due, 0).a0, due);
    yield();
    expect(seen.calls[0].a1, due);
    expect_true(now() - start >= wait && now() - start < 5 * wait);

    rule("V1-63");
    command(ALARM, 4, now() + wait, 0);
    expect(command(ALARM, 3, 0, 0).a0, 0);
    expect_error(command(ALARM, 3, 0, 0), ALREADY);
    spin(2 * wait);
    expect(seen.count, 1);
    subscribe(ALARM, 0, 0, 0);
}

static void check_console(void) {
    for (uint32_t i = 0; i < sizeof line; i++)
        line[i] = i % 50 == 49 ? '\n' : '.';

    rule("V1-64");
    forget_upcalls();
    allow(CONSOLE, 1, line, sizeof line);
    subscribe(CONSOLE, 1, note_upcall, 6);
    expect(command(CONSOLE, 1, sizeof line, 0).a0, 0);
    yield();
    expect(seen.calls[0].a0, sizeof line);
    expect(seen.calls[0].a3, 6);

    rule("V1-65");
    forget_upcalls();
    allow(CONSOLE, 1, line, 50);
    subscribe(CONSOLE, 1, note_upcall, 6);
    command(CONSOLE, 1, 0xffffffff, 0);
    yield();
    expect(seen.count, 1);
    expect(seen.calls[0].a0, 50);
}

void check_drivers(void) {
    check_alarm();
    check_console();
}
