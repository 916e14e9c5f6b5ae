/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The app endings: how an app starts, restarts and ends. The app partner checks the end. */
#include "checks.h"
#include "peers.h"
#include "service.h"

const struct identity identity = {"endings", 1, 0};

static uint32_t entry_break(void) {
    extern const char tm_flash_start[], tm_ram_start[];
    expect(kept.entry[0], (uintptr_t)tm_flash_start);
    expect(kept.entry[1], (uintptr_t)tm_ram_start);
    expect(kept.entry[2], value_of(memop(3, 0)) - value_of(memop(2, 0)));
    expect(kept.entry[1], value_of(memop(2, 0)));
    return kept.entry[3] - kept.entry[1];
}

#if TM_ABI == 1
static void run_version(void) {
    rule("V1-70");
    expect_true(entry_break() <= kept.entry[2]);
    finish();
}
#else
/* Returns the number of this start of the app, from 1. A kernel may clear an app's RAM before a
 * restart, so the app service counts the starts; without IPC the count is in RAM. */
static uint32_t which_life(void) {
    static volatile struct shared shared __attribute__((aligned(8)));
    uint32_t service = find_process("service");
    if (service == NOBODY)
        return kept.starts;
    subscribe(IPC, service, note_upcall, 0);
    share(service, &shared, sizeof shared);
    notify_service(service);
    while (seen.count == 0)
        yield();
    uint32_t life = ((volatile const struct reply *)seen.calls[0].a2)->notifications;
    subscribe(IPC, service, 0, 0);
    share(service, 0, 0);
    forget_upcalls();
    return life;
}

static void live_first(void) {
    rule("V2-90");
    expect_true(entry_break() <= kept.entry[2]);

    rule("V2-91");
    expect_error(call(EXIT, 2, 0, 0, 0), NOSUPPORT);
    expect_error(call(EXIT, 0xffffffff, 0, 0, 0), NOSUPPORT);

    say("life", "first", NUMBER("ends", RESTART), NONE); /* ends the rule, so the console is free */
    memop(1, 64);
    subscribe(ALARM, 0, note_upcall, 5);
    allow_rw(CONSOLE, 1, &kept, 8);
    command(ALARM, 5, milliseconds(1), 0);
    spin(milliseconds(2)); /* now one upcall waits; another one comes later */
    command(ALARM, 5, milliseconds(1), 0);
    call(EXIT, RESTART, 0, 0, 0);
}

static void live_second(void) {
    rule("V2-92");
    expect_true(entry_break() <= kept.entry[2]);

    rule("V2-93");
    expect_pair(subscribe(ALARM, 0, note_upcall, 6), 0, 0);
    expect_pair(allow_rw(CONSOLE, 1, 0, 0), 0, 0);

    rule("V2-94");
    expect(poll(), 0);
    spin(milliseconds(3));
    expect(poll(), 0);
    expect(seen.count, 0);
    expect_error(command(ALARM, 3, 0, 0), ALREADY);

    say("life", "second", NUMBER("ends", TERMINATE), NONE);
    subscribe(ALARM, 0, note_upcall, 7);
    command(ALARM, 5, milliseconds(5), 0);
    call(EXIT, TERMINATE, 0, 0, 0);
}

static void run_version(void) {
    uint32_t life = which_life();
    if (life == 1)
        live_first();
    if (life == 2)
        live_second();
    rule("V2-95"); /* an exit returned, or the app started too often */
    expect_true(false);
    finish();
}
#endif

void run(void) { run_version(); }
