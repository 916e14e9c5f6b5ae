/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The app disturber: does one thing for ever, after pauses of different length, so that an alarm
 * can hit it at any point. It starts when the sleeper has had some alarms.
 */
#include "disturbances.h"
#include "peers.h"

const struct identity identity = {"disturber", 1, 0};

enum { LINE = 64, PHASES = 61, STEP = 17 };
static char line[LINE];
static uint32_t words[16], other;

static void nothing(void) {}

static void hear(uint32_t first, uint32_t second, uint32_t third, uint32_t userdata) {
    (void)second, (void)third, (void)userdata;
    notify_client(first);
}

/* Ask the first disturber, which answers the others. */
static void ask(void) {
    if (app_slot != 1)
        notify_service(other);
    yield();
}

static void notify(void) {
    notify_service(other);
    notify_client(other);
}

static void write(void) {
    if (!refused(command(CONSOLE, 1, LINE, 0)))
        yield();
}

static void print(void) { command(DEBUG, 3, 0xffffffff, 0xffffffff); }

static void move_memory(void) {
    static uint32_t turn;
    bool there = turn++ % 2;
    memop(1, there ? 64 : (uint32_t)-64);
    allow_rw(CONSOLE, 1, words, there ? sizeof words : 0);
    allow_ro(CONSOLE, 1, line, there ? LINE : 0);
    subscribe(CONSOLE, 2, there ? note_upcall : 0, 0);
}

/* Set an alarm that is due at once. */
static void ring(void) {
    command(ALARM, 5, 0, 0);
    yield();
}

/* Wait for an upcall that nobody has subscribed to. */
static struct answer told(uint32_t driver, uint32_t number) {
    return call(YIELD, WAIT_FOR, driver, number, 0);
}

/* With the new IPC the first disturber also answers the others. */
enum { REGISTER = 1, DISCOVER = 2, SEND = 0x10, ENABLE = 0x20, TAKE = 0x22, RESPOND = 0x24 };
static struct answer service;

static void relay(void) {
    if (app_slot != 1) {
        command(RELAY, SEND, service.a1, service.a2);
        told(RELAY, 0);
        return;
    }
    told(RELAY, 1);
    while (!refused(command(RELAY, TAKE, 0, 0)))
        command(RELAY, RESPOND, 0, 0);
}

static void begin_relay(void) {
    static const char name[] = "disturber";
    allow_ro(RELAY, 0, line, LINE);
    allow_rw(RELAY, 0, words, sizeof words);
    allow_ro(BY_PACKAGE, 0, name, sizeof name - 1);
    if (app_slot == 1) {
        command(BY_PACKAGE, REGISTER, 0, 0);
        told(BY_PACKAGE, REGISTER - 1);
        command(RELAY, ENABLE, 0, 0);
        return;
    }
    do {
        command(BY_PACKAGE, DISCOVER, 0, 0);
        service = told(BY_PACKAGE, DISCOVER - 1);
    } while (service.a0);
}

static void restart(void) { call(EXIT, RESTART, 0, 0, 0); }
static void fault(void) { __asm__ volatile("unimp"); }

void run(void) {
    static void (*const kinds[KINDS])(void) = {
        [SPIN] = nothing, [IPC_PAIRS] = ask,      [NOTIFY] = notify, [WRITES] = write,
        [PRINTS] = print, [MEMORY] = move_memory, [ALARMS] = ring,   [RESTARTS] = restart,
        [FAULTS] = fault, [RELAYS] = relay,
    };
    uint32_t kind = app_scene % KINDS;
    subscribe(ALARM, 0, note_upcall, 0);
    if (kept.starts == 1) {
        command(ALARM, 5, milliseconds(BEGIN_MS), 0);
        yield();
    }
    for (uint32_t i = 0; i < LINE; i++)
        line[i] = i == LINE - 1 ? '\n' : '.';
    other = find_process(kind == NOTIFY ? "sleeper" : "disturber");
    if (kind == IPC_PAIRS && app_slot == 1)
        be_service(hear, 0);
    if (kind == IPC_PAIRS && app_slot != 1)
        subscribe(IPC, other, note_upcall, 0);
    if (kind == RELAYS)
        begin_relay();
    subscribe(CONSOLE, 1, note_upcall, 0);
    allow_ro(CONSOLE, 1, line, LINE);
    for (uint32_t phase = kept.starts * STEP % PHASES;; phase = (phase + STEP) % PHASES) {
        for (volatile uint32_t n = phase; n; n--)
            ;
        kinds[kind]();
    }
}
