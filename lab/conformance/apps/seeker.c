/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The app seeker: looks for system calls that keep interrupts off for long. Like fuzz it makes
 * random calls from the seed tm_scene, but calls with much work: with full queues, long and similar
 * names, buffers shared by all, and alarms due at the same time. Four of them run against each
 * other. The results are in the instruction trace; the apps print nothing.
 */
#include "peers.h"
#include "report.h"

const struct identity identity = {"seeker", 1, 0};

enum { FIRST = TM_ABI == 1 ? 1 : 0 }; /* the number of the first process */
enum { PROCESSES = 4, PIECE = 256, LONGEST_NAME = 80 };

/* In kept.words, so that it survives a restart. */
enum { STATE };

static uint8_t bytes[PIECE] __attribute__((aligned(8)));
static char name[LONGEST_NAME]; /* version 1 requires RAM */
static volatile uint32_t upcalls;

static void on_upcall(uint32_t first, uint32_t second, uint32_t third, uint32_t userdata) {
    (void)first, (void)second, (void)third, (void)userdata;
    upcalls++;
}

/* xorshift, by Marsaglia. */
static uint32_t random(uint32_t below) {
    uint32_t x = kept.words[STATE];
    x ^= x << 13;
    x ^= x >> 17;
    x ^= x << 5;
    kept.words[STATE] = x;
    return (x >> 8) % below;
}

static uint32_t other(void) { return random(PROCESSES) + FIRST; }

/* Mostly a function, sometimes none: an upcall without one is dropped. */
static upcall *function(void) { return random(4) ? on_upcall : 0; }

static void subscribe_all(void) {
    subscribe(ALARM, 0, function(), 0);
    subscribe(CONSOLE, 1, function(), 0);
    subscribe(PERF, 0, function(), 0);
    be_service(function(), 0);
    for (uint32_t i = 0; i < PROCESSES; i++)
        subscribe(IPC, i + FIRST, function(), 0);
}

static void subscribe_one(void) {
    static const uint32_t drivers[] = {
        ALARM,
        CONSOLE,
        PERF,
        DEBUG,
        IPC,
        IPC,
        ABSENT,
#if TM_ABI == 2
        RELAY,
        BY_STRING
#endif
    };
    uint32_t driver = drivers[random(sizeof drivers / sizeof *drivers)];
    uint32_t number = driver == IPC ? other() : driver == CONSOLE ? 1 : random(8) == 0;
    subscribe(driver, number, random(16) ? function() : (upcall *)4, 0);
}

/* As many notifications as the others take. */
static void notify_all(void) {
    for (uint32_t i = 0; i < 3 * PROCESSES; i++) {
        notify_service(i % PROCESSES + FIRST);
        notify_client(i % PROCESSES + FIRST);
    }
}

static void notify_one(void) { random(2) ? notify_service(other()) : notify_client(other()); }

/* Fills its own queue. */
static void fill(void) {
    for (uint32_t i = random(12); i > 0; i--)
        command(PERF, 8, i, 0);
}

static void share_with_all(void) {
    for (uint32_t i = 0; i < PROCESSES; i++)
        share(i + FIRST, bytes + (random(8) ? 0 : 1), random(8) ? 64 : 0);
}

static void write(void) {
    allow_ro(CONSOLE, 1, bytes, random(4) ? PIECE : random(PIECE));
    command(CONSOLE, 1, PIECE, 0);
    if (!random(8))
        allow_ro(CONSOLE, 1, 0, 0);
}

static void print(void) { command(DEBUG, random(5), 0xffffffff, 0xffffffff); }

/* Names that differ only in the last letter, or are longer than any name. */
static void discover(void) {
    static const uint32_t lengths[] = {1, 8, 47, 48, 48, 48, 64, LONGEST_NAME};
    uint32_t length = lengths[random(8)];
    for (uint32_t i = 0; i < LONGEST_NAME; i++)
        ((volatile char *)name)[i] = i < 6 ? "seeker"[i] : '-';
    if (length)
        ((volatile char *)name)[length - 1] = '1' + random(PROCESSES + 1);
#if TM_ABI == 1
    allow(IPC, 0, name, length);
#else
    allow_ro(IPC, 0, name, length);
    command(IPC, 1, 0, 0);
#endif
}

#if TM_ABI == 2
static uint32_t ids[PROCESSES]; /* of the processes found */

/* Registers, and finds another seeker by its name. */
static void find_another(void) {
    uint32_t which = random(PROCESSES);
    for (uint32_t i = 0; i < 48; i++)
        ((volatile char *)name)[i] = i < 6 ? "seeker"[i] : '-';
    ((volatile char *)name)[47] = '1' + which;
    allow_ro(BY_PACKAGE, 0, name, 48);
    command(BY_PACKAGE, 1, 0, 0);
    if (command(BY_PACKAGE, 2, 0, 0).a0 == SUCCESS) {
        struct answer told = call(YIELD, WAIT_FOR, BY_PACKAGE, 1, 0);
        ids[which] = told.a0 ? ids[which] : told.a1;
    }
}

/* From a long buffer in flash into RAM, sometimes misaligned. A client takes no request, so mostly
 * two ask. */
static void relay(void) {
    extern const char tm_flash_start[];
    static const uint8_t numbers[] = {0x10, 0x10, 0x11, 0x20, 0x22, 0x22,
                                      0x23, 0x24, 0x24, 0x21, 0,    0x30};
    static uint8_t room[2048] __attribute__((aligned(4)));
    uint32_t id = ids[random(PROCESSES)];
    if (!random(4)) {
        allow_ro(RELAY, 0, tm_flash_start + (random(8) ? 0 : 1), random(2048));
        allow_rw(RELAY, 0, room, sizeof room);
    }
    uint32_t number = numbers[random(random(8) ? 9 : sizeof numbers)];
    if (number != 0x10 || app_slot < 2 || !random(8))
        command(RELAY, number, id, random(16) == 0);
}

static void registries(void) {
    uint32_t registry = BY_STRING + random(2);
    allow_ro(BY_STRING, 0, random(16) ? (const char *)bytes : name, random(16) ? 20 : 19);
    allow_ro(BY_PACKAGE, 0, name, 48);
    command(registry, random(4), 0, 0);
}
#endif

/* The alarms of all seekers are due at the next full millisecond. */
static void set_alarm(void) {
    uint32_t tick = milliseconds(1), moment = now();
    command(ALARM, 6, moment, tick - moment % tick);
}

static void alarm_calls(void) { command(ALARM, random(8), random(2000), random(2000)); }

static void perf_calls(void) {
#if TM_ABI == 1
    static const uint32_t commands[] = {0, 1, 2, 8};
    command(PERF, commands[random(4)], 0, 0);
#else
    command(PERF, random(9), random(2) ? 0x1ff8 : random(14), 0);
#endif
}

static void memops(void) {
    extern const char tm_ram_start[];
    uint32_t end = value_of(memop(3, 0));
    (void)tm_ram_start;
    memop(0, end - random(8));
    memop(1, random(2) ? 0 : -4);
    memop(1, random(4));
    memop(2 + random(14), 0);
}

static void ask_for_drivers(void) {
    command(CONSOLE, 0, 0, 0);
    command(IPC, 0, 0, 0);
}

static void no_such_call(void) {
    call(COMMAND, random(2) ? ABSENT : IPC, 4 + random(60), 0, 0);
    command(CONSOLE, random(4) + 2, 0, 0);
    call(random(250) + 8, 0, 0, 0, 0);
#if TM_ABI != 1
    call(YIELD, 3 + random(9), 0, 0, 0);
    call(EXIT, 2 + random(9), 0, 0, 0);
    call(ALLOW_READABLE, CONSOLE, 0, (uintptr_t)bytes, 8);
    allow_rw(CONSOLE, random(3), bytes, random(300));
#endif
    allow_ro(random(2) ? ALARM : CONSOLE, random(3), bytes, random(300));
}

/* Computes, so that the others run and fill this one's queue. */
static void compute(void) { spin(milliseconds(1) / (1 + random(8))); }

/* Waits; there is always an upcall that ends the wait. */
static void wait(void) {
    subscribe(ALARM, 0, on_upcall, 0);
    random(2) ? (void)set_alarm() : (void)command(ALARM, 5, random(300), 0);
#if TM_ABI == 1
    yield();
#else
    switch (random(4)) {
    case 0:
        call(YIELD, WAIT, 0, 0, 0);
        break;
    case 1:
        call(YIELD, WAIT_FOR, ALARM, 0, 0);
        break;
    case 2:
        command(PERF, 8, 0, 0);
        call(YIELD, WAIT_FOR, random(2) ? PERF : ALARM, 0, 0);
        break;
    default:
        poll();
    }
#endif
}

static void begin_anew(void) {
    if (random(8))
        return;
#if TM_ABI == 1
    *(volatile uint32_t *)0 = 0;
#else
    random(4) ? (void)call(EXIT, RESTART, 0, 0, 0) : (void)(*(volatile uint32_t *)0 = 0);
#endif
}

static void end(void) {
#if TM_ABI != 1
    if (!random(512) && app_slot == 1)
        call(EXIT, TERMINATE, 0xffffffff, 0, 0);
#endif
}

void run(void) {
    static void (*const moves[])(void) = {
        subscribe_all,
        subscribe_one,
        subscribe_one,
        notify_all,
        notify_all,
        notify_one,
        fill,
        fill,
        share_with_all,
        write,
        print,
        discover,
        set_alarm,
        set_alarm,
        alarm_calls,
        perf_calls,
        memops,
        no_such_call,
        compute,
        compute,
        wait,
        wait,
        wait,
        wait,
        wait,
        begin_anew,
        end,
        ask_for_drivers,
#if TM_ABI == 2
        relay,
        relay,
        relay,
        registries,
        relay,
        relay,
        relay,
        find_another,
#endif
    };
    if (kept.starts == 1)
        kept.words[STATE] = (app_scene * PROCESSES + app_slot + 1) * 2654435761u | 1;
    for (uint32_t i = 0; i < sizeof bytes; i++)
        bytes[i] = '\n';
    for (;;)
        moves[random(sizeof moves / sizeof *moves)]();
}
