/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The app own: the baseline kernel's behaviour where version 2 leaves a choice. */
#include "checks.h"

const struct identity identity = {"own", 1, 0};

static uint8_t buffer[100];

static struct answer perf(uint32_t number, uint32_t argument) {
    return command(PERF, number, argument, 0);
}

static void check_unknown(void) {
    rule("V2-100");
    static const uint32_t classes[] = {8, 9, 255, 256, 0xffffffff};
    for (uint32_t i = 0; i < sizeof classes / sizeof *classes; i++)
        expect_error(call(classes[i], ALARM, 2, 0, 0), NOSUPPORT);

    rule("V2-101");
    for (uint32_t kind = 3; kind; kind <<= 1)
        expect_error(call(YIELD, kind, (uintptr_t)buffer, 0, 0), NOSUPPORT);
    for (uint32_t kind = 2; kind; kind <<= 1)
        expect_error(call(EXIT, kind, 0, 0, 0), NOSUPPORT);

    rule("V2-102");
    struct answer answer = call(ALLOW_READABLE, CONSOLE, 1, (uintptr_t)buffer, 8);
    expect_refused(answer, NOSUPPORT, (uintptr_t)buffer, 8);

    rule("V2-103");
    answer = command(CONSOLE, 0, 5, 6);
    expect(answer.a1 | answer.a2 | answer.a3, 0);
    answer = memop(99, 7);
    expect(answer.a2 | answer.a3, 0);
    answer = memop(2, 7);
    expect(answer.a2 | answer.a3, 0);
}

enum { WAITING = 4 }; /* equal upcalls */

static void check_queue(void) {
    rule("V2-104");
    subscribe(PERF, 0, note_upcall, 3);
    for (uint32_t i = 0; i < WAITING; i++)
        expect(perf(8, i).a0, SUCCESS);
    expect_error(perf(8, WAITING), NOMEM);
    subscribe(CONSOLE, 1, note_upcall, 4);
    expect(command(CONSOLE, 1, 0, 0).a0, SUCCESS);
    expect_error(command(CONSOLE, 1, 0, 0), NOMEM);
    for (uint32_t i = 0; i <= WAITING; i++)
        expect(poll(), 1);
    expect(poll(), 0);
    expect(seen.calls[WAITING].a3, 4);
    subscribe(CONSOLE, 1, 0, 0);
    for (uint32_t i = 0; i < WAITING; i++)
        expect(seen.calls[i].a2, i);

    rule("V2-105");
    perf(8, 1);
    subscribe(PERF, 0, 0, 0);
    forget_upcalls();
    perf(8, 2);
    struct answer answer = call(YIELD, WAIT_FOR, PERF, 0, 0);
    expect(answer.a2, 2);
    expect(answer.a3, 0);
    expect(poll(), 0);
    expect(seen.count, 0);
}

static void check_order_of_faults(void) {
    rule("V2-106");
    uint32_t bad = 0x10001260;
    expect(subscribe(ABSENT, 0, (upcall *)bad, 0).a1, INVAL);
    expect(subscribe(ALARM, 99, (upcall *)bad, 0).a1, INVAL);
    expect(allow_rw(ABSENT, 0, (void *)bad, 4).a1, NODEVICE);
    expect(allow_rw(CONSOLE, 99, (void *)bad, 4).a1, INVAL);
    expect(allow_ro(ABSENT, 0, (void *)bad, 4).a1, NODEVICE);
    expect(allow_ro(CONSOLE, 99, (void *)bad, 4).a1, INVAL);
    expect(allow_rw(CONSOLE, 99, buffer, 4).a1, NOSUPPORT);
}

static void check_perf(void) {
    rule("V2-107");
    expect(perf(0, 0).a0, SUCCESS);
    for (uint32_t number = 1; number <= 2; number++)
        expect(perf(number, 0).a0, ONE);
    expect(perf(3, 0).a0, PAIR);
    for (uint32_t number = 4; number <= 5; number++)
        expect(perf(number, 0).a0, WIDE);
    expect_error(perf(9, 0), NOSUPPORT);
    expect_error(perf(0xffffffff, 0), NOSUPPORT);

    rule("V2-108");
    struct answer first = perf(3, 0), second = perf(3, 0);
    expect_true(second.a1 - first.a1 > second.a2 - first.a2); /* over a cycle per instruction */
    expect_true(second.a2 - first.a2 > 60 && second.a2 - first.a2 < 200);
    expect_true(perf(1, 0).a1 - second.a1 < 2000);
    expect_true(perf(2, 0).a1 - second.a2 < 2000);
}

static void check_rest(void) {
    rule("V2-109");
    for (uint32_t i = 0; i < sizeof buffer; i++)
        buffer[i] = i + 1 < sizeof buffer ? '.' : '\n';
    allow_ro(CONSOLE, 1, buffer, sizeof buffer);
    forget_upcalls();
    subscribe(CONSOLE, 1, note_upcall, 0);
    expect(command(CONSOLE, 1, sizeof buffer, 0).a0, SUCCESS);
    expect_error(command(CONSOLE, 1, 1, 0), BUSY);
    yield();
    expect(seen.calls[0].a0, sizeof buffer);

    rule("V2-110");
    subscribe(CONSOLE, 1, note_upcall, 0);
    allow_ro(CONSOLE, 1, 0, 0);
    expect(command(CONSOLE, 1, 10, 0).a0, SUCCESS);
    yield();
    expect(seen.count, 2);
    expect(seen.calls[1].a0, 0);
    subscribe(CONSOLE, 1, 0, 0);

    rule("V2-111");
    expect(memop(6, 0).a1, memop(3, 0).a1);

    rule("V2-112");
    uint32_t before = memop(1, 8).a1;
    expect_pair(allow_rw(CONSOLE, 1, (void *)before, 8), 0, 0);
    expect(memop(0, before).a0, SUCCESS);
    expect_pair(allow_rw(CONSOLE, 1, 0, 0), before, 8);
}

/* TRD 104 leaves no choice here, but Tock 2.2 sleeps for ever: it counts an upcall without a
 * subscription as waiting, and drops it only then. A new subscription does not cancel it.
 */
static void check_null_upcall(void) {
    rule("V2-113");
    subscribe(ALARM, 0, 0, 0);
    command(ALARM, 5, milliseconds(1), 0);
    spin(milliseconds(2));
    expect(poll(), 0);
    command(ALARM, 5, milliseconds(1), 0);
    spin(milliseconds(2));
    subscribe(ALARM, 0, note_upcall, 0);
    expect(poll(), 0);
}

void run(void) {
    check_unknown();
    check_queue();
    check_order_of_faults();
    check_perf();
    check_rest();
    check_null_upcall();
    finish();
}
