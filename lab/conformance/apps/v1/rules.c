/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The app rules: the behaviour of every kernel with version 1 of the interface. */
#include "checks.h"

const struct identity identity = {"rules", 1, 0};

/* Addresses outside the app: the boot ROM, the kernel's flash and RAM, a device, the last word.
 */
static const uint32_t foreign[] = {0x8000, 0x20000400, 0x10000800, 0x40000000, 0xfffffffc};
enum { FOREIGN = sizeof foreign / sizeof *foreign };

static uint8_t buffer[64];
static const uint8_t constant[8] = {1};

static void set_alarm(uint32_t ms) { command(ALARM, 5, milliseconds(ms), 0); }

static void make_upcall_wait(void) {
    set_alarm(1);
    spin(milliseconds(2));
}

/* Return how many upcalls wait. In version 1 every yield waits: an upcall of Perf ends the loop. */
static uint32_t upcalls_waiting(void) {
    uint32_t before = seen.count;
    subscribe(PERF, 0, note_upcall, 99);
    command(PERF, 8, 0, 0);
    uint32_t others = 0;
    while (seen.count == before || seen.calls[(seen.count - 1) % UPCALLS_KEPT].a3 != 99) {
        yield();
        others++;
    }
    forget_upcalls();
    return others - 1;
}

static void check_results(void) {
    static const uint32_t calls[][5] = {
        {COMMAND, ALARM, 2, 0, 0},    {COMMAND, ABSENT, 0, 0, 0},    {MEMOP, 2, 0, 0, 0},
        {MEMOP, 99, 0, 0, 0},         {SUBSCRIBE, CONSOLE, 1, 0, 0}, {ALLOW, CONSOLE, 1, 0, 0},
        {SUBSCRIBE, ABSENT, 1, 0, 0},
    };
    rule("V1-1");
    struct answer answer = call(COMMAND, CONSOLE, 0, 0x1234, 0x5678);
    expect(answer.a0, 0);
    expect(answer.a1, CONSOLE);
    expect(answer.a2, 0);
    expect(answer.a3, 0x1234);

    rule("V1-2");
    for (uint32_t i = 0; i < sizeof calls / sizeof *calls; i++)
        expect(registers_lost(calls[i], 0), false);

    rule("V1-4");
    expect(command(CONSOLE, 0, 0, 0).a0, 0);
    expect(command(DEBUG, 0, 0, 0).a0, 0);
    expect(command(ALARM, 0, 0, 0).a0, 1); /* the number of alarms */

    rule("V1-5");
    expect_error(command(ABSENT, 0, 0, 0), NODEVICE);
    expect_error(command(0x90010, 0, 0, 0), NODEVICE); /* Perf of version 2 */

    rule("V1-6");
    expect_error(command(CONSOLE, 99, 0, 0), NOSUPPORT);
    expect_error(command(ALARM, 0xffffffff, 0, 0), NOSUPPORT);
}

static void check_yield(void) {
    rule("V1-10");
    subscribe(ALARM, 0, note_upcall, 1);
    uint32_t start = now(), wait = milliseconds(2);
    command(ALARM, 5, wait, 0);
    yield();
    expect(seen.count, 1);
    expect_true(now() - start >= wait);

    rule("V1-11");
    forget_upcalls();
    make_upcall_wait();
    memop(2, 0);
    expect(seen.count, 0);
    yield();
    expect(seen.count, 1);

    rule("V1-12");
    forget_upcalls();
    make_upcall_wait();
    subscribe(PERF, 0, note_upcall, 2);
    command(PERF, 8, 77, 0);
    yield();
    expect(seen.count, 1);
    yield();
    expect(seen.count, 2);

    rule("V1-13");
    expect(seen.calls[0].a3, 1);
    expect(seen.calls[1].a3, 2);

    rule("V1-14");
    expect(seen.calls[1].a2, 77);
    expect_true(seen.calls[0].a0 - seen.calls[0].a1 < milliseconds(50));
    forget_upcalls();
}

static void check_subscribe(void) {
    rule("V1-20");
    expect(subscribe(ALARM, 0, note_upcall, 1).a0, 0);
    expect(subscribe(ALARM, 0, note_upcall, 2).a0, 0);
    expect(subscribe(ALARM, 0, 0, 3).a0, 0);

    rule("V1-21");
    make_upcall_wait(); /* without a subscription */
    expect(upcalls_waiting(), 0);

    rule("V1-22");
    subscribe(ALARM, 0, note_upcall, 4);
    make_upcall_wait();
    subscribe(ALARM, 0, note_upcall, 5);
    expect(upcalls_waiting(), 0);

    rule("V1-23");
    for (uint32_t i = 0; i < FOREIGN; i++)
        expect_error(subscribe(ALARM, 0, (upcall *)foreign[i], 0), INVAL);

    rule("V1-24");
    make_upcall_wait();
    expect_error(subscribe(ALARM, 0, (upcall *)foreign[0], 0), INVAL);
    expect(upcalls_waiting(), 1);

    rule("V1-25");
    expect_error(subscribe(ABSENT, 0, note_upcall, 0), NODEVICE);
    expect_error(subscribe(CONSOLE, 99, note_upcall, 0), NOSUPPORT);
}

static void check_allow(void) {
    uint32_t end = memop(1, 0).a0, start = (uintptr_t)buffer;

    rule("V1-30");
    expect(allow(CONSOLE, 1, buffer, 64).a0, 0);
    expect(allow(CONSOLE, 1, buffer + 3, 5).a0, 0);

    rule("V1-31");
    expect(allow(CONSOLE, 1, 0, 0).a0, 0);
    expect(allow(CONSOLE, 1, 0, 64).a0, 0); /* a null address takes the buffer back */

    rule("V1-32");
    for (uint32_t i = 0; i < FOREIGN; i++)
        expect_error(allow(CONSOLE, 1, (void *)foreign[i], 4), INVAL);

    rule("V1-33");
    expect_error(allow(CONSOLE, 1, constant, sizeof constant), INVAL);

    rule("V1-34");
    expect_error(allow(CONSOLE, 1, buffer, 0xffffffff), INVAL);
    expect_error(allow(CONSOLE, 1, buffer, -start), INVAL);
    expect_error(allow(CONSOLE, 1, buffer, -start + 4), INVAL);

    rule("V1-35");
    expect(allow(CONSOLE, 1, (void *)(end - 8), 8).a0, 0);
    expect_error(allow(CONSOLE, 1, (void *)(end - 8), 9), INVAL);
    expect(allow(CONSOLE, 1, 0, 0).a0, 0);

    rule("V1-36");
    expect_error(allow(ABSENT, 1, buffer, 8), NODEVICE);
    expect_error(allow(CONSOLE, 99, buffer, 8), NOSUPPORT);
}

void check_memop(void);
void check_drivers(void);

void run(void) {
    check_results();
    check_yield();
    check_subscribe();
    check_allow();
    check_memop();
    check_drivers();
    finish();
}
