/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The app attacker: uses as much of the shared resources as it can until the time is over. Several
 * attackers may run, each with another attack. It writes only empty lines, so that it tears none of
 * the victim's lines.
 */
#include "availability.h"
#include "peers.h"

const struct identity identity = {"attacker", 1, 0};

enum { MUCH = 1024, LONG_NAME = 8192 };
static char lines[MUCH]; /* version 1 writes from RAM only */
#if TM_ABI == 1
static char name[LONG_NAME];
#else
static const char name[LONG_NAME] = {[0 ... LONG_NAME - 1] = 'n'};
#endif
static uint32_t targets[2];

static void start_write(uint32_t length) {
    allow_ro(CONSOLE, 1, lines, length);
    command(CONSOLE, 1, length, 0);
}

static void take_buffer_back(void) { allow_ro(CONSOLE, 1, 0, 0); }

/* Starts a write without checking whether the last one has ended. */
static void write(void) { start_write(MUCH); }

static void fault(void) { __asm__ volatile("unimp"); }

/* Restarts. The kernel also restarts it after a fault. Version 1 has no call for that. */
static void restart(void) {
#if TM_ABI != 1
    if (kept.starts % 2)
        call(EXIT, RESTART, 0, 0, 0);
#endif
    fault();
}

/* Starts a write, takes its buffer back before its turn, and computes while the turn passes; then
 * restarts. */
static void take_back(void) {
    start_write(4);
    take_buffer_back();
    spin(milliseconds(2)); /* longer than one line of the victim takes */
    restart();
}

static void print(void) { command(DEBUG, 3, 0xffffffff, 0xffffffff); }

/* A write that the UART accepts at once, and lines before the write's end is reported. */
static void write_print(void) {
    start_write(4);
    print();
}

static void take_print(void) {
    start_write(MUCH);
    take_buffer_back();
    print();
}

static void write_restart(void) {
    start_write(4);
    restart();
}

#if TM_ABI != 1
static uint32_t victim; /* its id, if it is known */

static void find_victim(void) {
    allow_ro(BY_PACKAGE, 0, "victim", 6);
    if (command(BY_PACKAGE, 2, 0, 0).a0 == SUCCESS) {
        struct answer found = call(YIELD, WAIT_FOR, BY_PACKAGE, 1, 0);
        victim = found.a0 ? 0 : found.a1;
    }
}

/* Takes its last request back and sends another one, so that one always waits. */
static void request(void) {
    if (!victim)
        find_victim();
    command(RELAY, CANCEL_REQUEST, 0, 0);
    command(RELAY, SEND_REQUEST, victim, 0);
}
#else
static void request(void) {}
#endif

static void notify(void) {
    for (uint32_t i = 0; i < 2; i++) {
        notify_service(targets[i]);
        notify_client(targets[i]);
    }
    request();
}

static void compute(void) {}

/* Sets an alarm that is due at once, without end. */
static void set_alarms(void) { command(ALARM, 5, 0, 0); }

/* Searches for an app with a long name (the tool puts one after the others), which the kernel
 * compares with each process's name. */
static void discover(void) {
#if TM_ABI == 1
    allow(IPC, 0, name, sizeof name);
#else
    allow_ro(IPC, 0, name, sizeof name);
    command(IPC, 1, 0, 0);
#endif
}

/* Subscribes while the most possible upcalls wait for it. */
static void subscribe_all(void) {
    command(PERF, 8, 0, 0);
    command(ALARM, 5, 0, 0);
    subscribe(ALARM, 0, note_upcall, 0);
    subscribe(CONSOLE, 1, 0, 0);
    if (now() % 16 == 0)
        subscribe(PERF, 0, note_upcall, 0);
}

/* Makes calls in an order set by a seed: a loop of a few steps, different for each attacker. */
enum { STEPS = 8 };

static void step(uint32_t what) {
    switch (what % 20) {
    case 0:
        return start_write(1);
    case 1:
        return start_write(4);
    case 2:
        return start_write(64);
    case 3:
        return write();
    case 4:
    case 5:
        return take_buffer_back();
    case 6:
    case 7:
        return print();
    case 8:
        command(DEBUG, 1, what, 0);
        return;
    case 9:
        return notify();
    case 10:
        return set_alarms();
    case 11:
        command(ALARM, 5, what / 20 % 500, 0);
        return;
    case 12:
        return discover();
    case 13:
        return subscribe_all();
    case 14:
        share(targets[0], lines, sizeof lines);
        return;
    case 15:
        memop(1, 0);
        return;
    case 16:
        return spin(what / 20 % 300);
    case 17:
        return restart();
    case 18:
        command(PERF, 8, 0, 0);
        return;
    default:
#if TM_ABI != 1
        poll();
#endif
        return;
    }
}

static void mix(void) {
    uint32_t steps[STEPS], count, random = app_calls * 2654435761u ^ (app_slot + 1) * 0x9e3779b9u;
    for (uint32_t i = 0; i < STEPS; i++) {
        random ^= random << 13;
        random ^= random >> 17;
        random ^= random << 5;
        steps[i] = random >> 4;
    }
    count = 1 + random % STEPS;
    while (!is_over())
        for (uint32_t i = 0; i < count; i++)
            step(steps[i]);
}

void run(void) {
    static void (*const attacks[ATTACKS])(void) = {
        [NO_ATTACK] = compute,
        [WRITE] = write,
        [TAKE_BACK_BUFFER] = take_back,
        [PRINT] = print,
        [NOTIFY] = notify,
        [COMPUTE] = compute,
        [SET_ALARMS] = set_alarms,
        [WRITE_PRINT] = write_print,
        [TAKE_PRINT] = take_print,
        [RESTARTS] = write_restart,
        [DISCOVER] = discover,
        [SUBSCRIBE_ALL] = subscribe_all,
        [MIX] = mix,
    };
    for (uint32_t i = 0; i < sizeof lines; i++)
        lines[i] = '\n';
#if TM_ABI == 1
    bool looks = the_attack() == DISCOVER || the_attack() == MIX; /* other attacks start sooner */
    for (uint32_t i = 0; looks && i < sizeof name; i++)
        name[i] = 'n';
#endif
    targets[0] = find_process("victim");
    targets[1] = find_process("service");
#if TM_ABI != 1
    command(RELAY, ACCEPT_REQUESTS, 0, 0);
    command(BY_PACKAGE, 1, 0, 0); /* the victim finds it and sends requests */
#endif
    while (!is_over())
        attacks[the_attack()]();
    end_app();
}
