/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Commands, and the drivers of every measured kernel: alarm and console. */
#include "rules.h"

static uint8_t line[152];

void check_command(void) {
    rule("V2-30");
    expect(command(ALARM, 0, 0, 0).a0, SUCCESS);
    expect(command(CONSOLE, 0, 0, 0).a0, SUCCESS);
    expect(command(DEBUG, 0, 0, 0).a0, SUCCESS);
    expect(command(ALARM, 0, 0xffffffff, 0xffffffff).a0, SUCCESS);

    rule("V2-31");
    for (uint32_t number = 0; number < 4; number++)
        expect_error(command(ABSENT, number, 0, 0), NODEVICE);
    expect_error(command(0xffffffff, 0, 0, 0), NODEVICE);

    rule("V2-32");
    expect_error(command(ALARM, 99, 0, 0), NOSUPPORT);
    expect_error(command(CONSOLE, 0xffffffff, 0, 0), NOSUPPORT);
    expect_error(command(DEBUG, 99, 0, 0), NOSUPPORT);

    rule("V2-33");
    expect(command(DEBUG, 1, 1, 0).a0, SUCCESS);
    expect(command(DEBUG, 2, 33, 0).a0, SUCCESS);
    expect(command(DEBUG, 3, 3, 3).a0, SUCCESS);
}

void check_alarm(void) {
    rule("V2-75");
    struct answer frequency = command(ALARM, 1, 0, 0);
    expect(frequency.a0, ONE);
    expect_true(frequency.a1 >= 1000);
    expect(command(ALARM, 1, 5, 5).a1, frequency.a1);

    rule("V2-76");
    uint32_t start = now();
    expect(command(ALARM, 2, 0, 0).a0, ONE);
    for (uint32_t i = 0; i < 10000 && now() == start; i++)
        ;
    expect_true(now() != start && now() - start < frequency.a1);

    rule("V2-77");
    forget_upcalls();
    subscribe(ALARM, 0, note_upcall, 5);
    uint32_t wait = milliseconds(2);
    start = now();
    struct answer set = command(ALARM, 5, wait, 0);
    expect(set.a0, ONE);
    expect_true(set.a1 - start >= wait && set.a1 - start <= wait + milliseconds(1));
    yield();
    expect(seen.calls[0].a1, set.a1);
    expect_true(seen.calls[0].a0 - set.a1 < milliseconds(5));
    expect_true(now() - set.a1 < milliseconds(10));

    rule("V2-78");
    start = now();
    set = command(ALARM, 6, start, wait);
    expect(set.a0, ONE);
    expect(set.a1, start + wait);
    yield();
    expect(seen.calls[1].a1, start + wait);
    expect_true(now() - start >= wait);

    rule("V2-79");
    start = now();
    command(ALARM, 6, start - milliseconds(3), milliseconds(1));
    yield();
    expect(seen.count, 3);
    expect_true(now() - start < milliseconds(3));

    rule("V2-80");
    set_alarm(1);
    expect(command(ALARM, 3, 0, 0).a0, SUCCESS);
    spin(milliseconds(3));
    expect(poll(), 0);
    expect_error(command(ALARM, 3, 0, 0), ALREADY);

    rule("V2-81");
    set_alarm(1);
    start = now();
    command(ALARM, 5, milliseconds(4), 0);
    yield();
    expect_true(now() - start >= milliseconds(4));
    expect(poll(), 0);
    expect(seen.count, 4);
    subscribe(ALARM, 0, 0, 0);
}

/* Writes and waits; returns the upcall's number of bytes. */
static uint32_t write(uint32_t allowed, uint32_t asked) {
    forget_upcalls();
    allow_ro(CONSOLE, 1, line, allowed);
    subscribe(CONSOLE, 1, note_upcall, 6);
    expect(command(CONSOLE, 1, asked, 0).a0, SUCCESS);
    yield();
    subscribe(CONSOLE, 1, 0, 0);
    allow_ro(CONSOLE, 1, 0, 0);
    expect(seen.count, 1);
    expect(seen.calls[0].a3, 6);
    return seen.calls[0].a0;
}

void check_console(void) {
    for (uint32_t i = 0; i < sizeof line; i++)
        line[i] = i % 50 == 49 ? '\n' : '.';

    rule("V2-82");
    expect(write(50, 50), 50);
    expect(write(50, 1), 1);

    rule("V2-83");
    expect(write(50, 60), 50);
    expect(write(50, 0xffffffff), 50);

    rule("V2-84");
    expect(write(150, 150), 150);
}
