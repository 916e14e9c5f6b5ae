/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Yield, and what a call may change. */
#include "rules.h"

static const uint8_t text[] = "#\n";
static uint8_t flags[4];

/* Writes a little; the alarm's upcall comes before or after the write's. */
static void start_write(void) {
    allow_ro(CONSOLE, 1, text, sizeof text - 1);
    subscribe(CONSOLE, 1, note_upcall, 2);
    command(CONSOLE, 1, sizeof text - 1, 0);
}

static void make_two_wait(void) {
    forget_upcalls();
    subscribe(ALARM, 0, note_upcall, 1);
    make_upcall_wait();
    start_write();
    spin(milliseconds(10));
}

static void be_quiet(void) {
    subscribe(ALARM, 0, 0, 0);
    subscribe(CONSOLE, 1, 0, 0);
    allow_ro(CONSOLE, 1, 0, 0);
    forget_upcalls();
}

static void check_flag(void) {
    rule("V2-1");
    expect(poll(), 0);

    rule("V2-2");
    subscribe(ALARM, 0, note_upcall, 1);
    make_upcall_wait();
    expect(seen.count, 0);
    expect(poll(), 1);
    expect(seen.count, 1);
    expect(poll(), 0);

    rule("V2-4");
    for (uint32_t i = 0; i < sizeof flags; i++)
        flags[i] = 0xaa;
    call(YIELD, NO_WAIT, (uintptr_t)&flags[1], 0, 0);
    expect(((volatile uint8_t *)flags)[0], 0xaa);
    expect(((volatile uint8_t *)flags)[1], 0);
    expect(((volatile uint8_t *)flags)[2], 0xaa);
    expect(((volatile uint8_t *)flags)[3], 0xaa);

    rule("V2-5");
    forget_upcalls();
    for (uint32_t i = 0; i < FOREIGN; i++)
        call(YIELD, NO_WAIT, foreign[i], 0, 0);
    call(YIELD, NO_WAIT, (uintptr_t)text, 0, 0); /* the app's own memory, but flash */
    expect(((volatile const uint8_t *)text)[0], '#');
    make_upcall_wait();
    call(YIELD, NO_WAIT, 0, 0, 0);
    expect(seen.count, 1);
    be_quiet();
}

static void check_wait(void) {
    rule("V2-6");
    subscribe(ALARM, 0, note_upcall, 1);
    uint32_t start = now(), wait = milliseconds(2);
    command(ALARM, 5, wait, 0);
    call(YIELD, WAIT, 0, 0, 0);
    expect(seen.count, 1);
    expect_true(now() - start >= wait);

    rule("V2-3");
    make_two_wait();
    call(YIELD, WAIT, 0, 0, 0);
    expect(seen.count, 1);
    expect(poll(), 1);
    expect(seen.count, 2);
    expect(poll(), 0);

    rule("V2-8");
    make_two_wait();
    command(ALARM, 0, 0, 0);
    memop(2, 0);
    expect(seen.count, 0);

    rule("V2-9");
    make_two_wait();
    while (poll())
        ;
    expect(seen.count, 2);
    expect(seen.calls[0].a3, 1);
    expect(seen.calls[1].a3, 2);

    rule("V2-10");
    expect(seen.calls[1].a0, sizeof text - 1);
    expect_true(seen.calls[0].a0 - seen.calls[0].a1 < milliseconds(50));
    be_quiet();
}

static void check_wait_for(void) {
    rule("V2-11");
    subscribe(ALARM, 0, note_upcall, 1);
    uint32_t start = now(), wait = milliseconds(2);
    command(ALARM, 5, wait, 0);
    struct answer answer = call(YIELD, WAIT_FOR, ALARM, 0, 0);
    expect(seen.count, 0);
    expect_true(answer.a0 - start >= wait); /* the time of the alarm */
    expect_true(answer.a1 - start >= wait && answer.a1 - start <= answer.a0 - start);
    expect(poll(), 0);

    rule("V2-12");
    make_two_wait();
    answer = call(YIELD, WAIT_FOR, CONSOLE, 1, 0);
    expect(answer.a0, sizeof text - 1);
    expect(seen.count, 0);
    expect(poll(), 1);
    expect(seen.count, 1);
    expect(seen.calls[0].a3, 1);
    expect(poll(), 0);

    rule("V2-13");
    be_quiet();
    start = now();
    set_alarm(2);
    answer = call(YIELD, WAIT_FOR, ALARM, 0, 0);
    expect_true(answer.a0 - start >= milliseconds(2));
    be_quiet();
}

void check_unknown_yield(void) {
    be_quiet();
    rule("V2-14");
    subscribe(ALARM, 0, note_upcall, 1);
    make_upcall_wait();
    flags[0] = 0xaa;
    call(YIELD, 3, (uintptr_t)flags, ALARM, 0);
    call(YIELD, 0xffffffff, (uintptr_t)flags, ALARM, 0);
    expect(((volatile uint8_t *)flags)[0], 0xaa);
    expect(seen.count, 0);
    expect(poll(), 1);
    be_quiet();
}

static void check_registers(void) {
    static const uint32_t calls[][5] = {
        {ALARM, 2, 0, 0, COMMAND},    {ABSENT, 0, 0, 0, COMMAND},    {2, 0, 0, 0, MEMOP},
        {99, 0, 0, 0, MEMOP},         {CONSOLE, 1, 0, 0, SUBSCRIBE}, {CONSOLE, 1, 0, 0, ALLOW_RW},
        {CONSOLE, 1, 0, 0, ALLOW_RO}, {ABSENT, 1, 4, 4, ALLOW_RO},
    };
    rule("V2-16");
    for (uint32_t i = 0; i < sizeof calls / sizeof *calls; i++)
        expect(registers_lost(calls[i], 0), false);

    rule("V2-17");
    static const uint32_t none[5];
    subscribe(ALARM, 0, note_upcall, 1);
    set_alarm(1);
    expect(registers_lost(none, 20000), false);
    spin(milliseconds(2));
    expect(poll(), 1);
    be_quiet();
}

void check_yield(void) {
    be_quiet();
    check_flag();
    check_wait();
    check_wait_for();
    check_registers();
}
