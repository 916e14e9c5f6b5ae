/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The app fuzz: makes pseudo-random system calls from the seed tm_scene; the link symbol cf_calls
 * is their number. It repairs what it may break, such as its own break, after each call. After a
 * fault or a restart it continues with the next call. It only omits calls that would end it:
 * exit-terminate, and waits for upcalls that never come.
 */
#include "guests.h"
#include "report.h"

const struct identity identity = {"fuzz", 3, 0};

/* In kept.words, so that they survive a fault. */
enum { MADE, STATE, REFUSED };

enum { KERNEL_STATE = 0x10001260 };

/* Memory that random flags, and other processes, may write to. */
static volatile uint8_t scratch[256] __attribute__((aligned(8)));
static volatile uint32_t upcalls;

static void on_upcall(uint32_t first, uint32_t second, uint32_t third, uint32_t userdata) {
    (void)first, (void)second, (void)third, (void)userdata;
    upcalls++;
}

/* xorshift, by Marsaglia. */
static uint32_t random(void) {
    uint32_t x = kept.words[STATE];
    x ^= x << 13;
    x ^= x >> 17;
    x ^= x << 5;
    return kept.words[STATE] = x;
}

/* Arguments are chosen from these words; every few calls one word is replaced. */
enum { WORDS = 64 };
static uint32_t words[WORDS];

/* Returns a length, a number, or an address: of the app, near it, of the kernel, of a neighbour, of
 * a device, or any other. */
static uint32_t new_word(uint32_t bits) {
    extern const char tm_ram_start[], tm_flash_start[];
    uint32_t offset = bits >> 8;
    switch (bits & 15) {
    case 0:
    case 1:
    case 2:
    case 3:
        return (uintptr_t)scratch + offset % sizeof scratch;
    case 4:
        return (uintptr_t)&kept + offset % 512;
    case 5:
        return (uintptr_t)tm_flash_start + offset % 0x4000;
    case 6:
        return (uintptr_t)tm_ram_start - offset % 64;
    case 7:
        return 0x10000000 + offset % 0x20000;
    case 8:
        return 0x40000000 + offset;
    case 9:
        return bits;
    case 10:
        return 0;
    case 11:
        return offset % 0x20000;
    default:
        return offset % sizeof scratch;
    }
}

static uint32_t word(uint32_t bits) { return words[bits % WORDS]; }

static void renew_words(uint32_t count) {
    for (uint32_t i = 0; i < count; i++)
        words[random() % WORDS] = new_word(random());
}

static uint32_t driver(uint32_t bits) {
    static const uint32_t known[16] = {ALARM,   ALARM,   ALARM, ALARM, CONSOLE, CONSOLE,
                                       CONSOLE, CONSOLE, PERF,  PERF,  PERF,    IPC,
                                       IPC,     IPC,     IPC,   ABSENT};
#if TM_ABI == 2
    static const uint32_t newer[] = {RELAY, RELAY, BY_STRING, BY_PACKAGE};
    if (bits >> 4 & 1)
        return newer[bits % 4];
#endif
    return known[bits % 16];
}

/* Mostly a number that a driver has. */
static uint32_t number(uint32_t bits) { return bits % 16 < 15 ? bits % 8 : words[bits % WORDS]; }

static void count(struct answer answer) { kept.words[REFUSED] += refused(answer); }

/* Makes sure that there is an upcall to wait for. */
static void ready(void) {
    subscribe(ALARM, 0, on_upcall, random());
    command(ALARM, 5, 50, 0); /* in case the queue is full of unwanted upcalls */
    subscribe(PERF, 0, on_upcall, random());
    command(PERF, 8, random(), 0);
    kept.words[MADE] += 4;
}

static void fuzz_wait(uint32_t bits) {
#if TM_ABI == 1
    (void)bits;
    ready();
    yield();
#else
    while (poll()) /* make room for the upcall */
        kept.words[MADE]++;
    ready();
    call(YIELD, bits & 1 ? WAIT : WAIT_FOR, PERF, 0, word(bits));
#endif
}

#if TM_ABI == 1
#define fuzz_flag fuzz_wait
#else
/* The kernel writes to a flag, so in the app's own memory only scratch may be one. */
static void fuzz_flag(uint32_t bits) {
    extern const char tm_ram_start[];
    uint32_t flag = word(bits);
    if (flag - (uintptr_t)tm_ram_start < 0x4000)
        flag = (uintptr_t)scratch + flag % sizeof scratch;
    call(YIELD, bits >> 28 ? NO_WAIT : bits | 4, flag, word(bits >> 6), word(bits >> 12));
}
#endif

static void fuzz_subscribe(uint32_t bits) {
    static upcall *const functions[] = {on_upcall, on_upcall, note_upcall, 0};
    extern const char tm_flash_start[];
    uint32_t function = bits & 3 ? (uintptr_t)functions[bits >> 2 & 3] : word(bits >> 2);
    if (function - (uintptr_t)tm_flash_start < 0x4000) /* any other address must be a function */
        function = (uintptr_t)on_upcall;
    count(subscribe(driver(bits >> 8), number(bits >> 12), (upcall *)function, bits));
}

static void fuzz_command(uint32_t bits) {
    uint32_t which = driver(bits), first = word(bits >> 12);
    if (which == CONSOLE)
        first &= 15;
    if (bits >> 22 == 0)
        which = DEBUG; /* rarely: it prints */
#if TM_ABI == 2
    static const uint32_t asked[] = {0x10, 0x11, 0x20, 0x21, 0x22, 0x23, 0x24, 0};
    if (which == RELAY && bits >> 5 & 1) {
        count(command(RELAY, asked[bits >> 6 & 7], first & 15, 0));
        return;
    }
#endif
    count(
        command(which, number(bits >> 4), bits & 0x80000000 ? first : first & 7, word(bits >> 18)));
}

static void fuzz_allow(uint32_t bits) {
#if TM_ABI == 1
    uint32_t class = ALLOW;
#else
    uint32_t class = bits >> 28 ? ALLOW_RW + (bits >> 27 & 1) : ALLOW_READABLE;
#endif
    count(call(class, driver(bits), number(bits >> 4), word(bits >> 12), word(bits >> 18)));
}

/* The break may move anywhere above the app's data, and moves back. */
static void fuzz_memop(uint32_t bits) {
    uint32_t least = (uintptr_t)(&kept + 1), operation = number(bits), argument = word(bits >> 8);
    if (operation == 0 && argument < least)
        argument = least + argument % 0x2000;
    if (operation == 1 && least + 256 + argument < least)
        argument = 0;
    count(memop(operation, argument));
    if (operation > 1)
        return;
    memop(0, least + 256);
    kept.words[MADE]++;
}

static void fuzz_garbage(uint32_t bits) {
    if (bits >> 22 == 0)
        *(volatile uint32_t *)KERNEL_STATE = 0; /* a fault, now and then */
#if TM_ABI != 1
    if (bits >> 22 == 1)
        call(EXIT, RESTART, bits, bits, bits);
    if (bits & 8) {
        count(call(EXIT, bits | 2, word(bits), bits, bits));
        return;
    }
#endif
    uint32_t class = bits & 4 ? 8 + (bits >> 4) % 256 : bits | 16;
    count(call(class, word(bits), word(bits >> 6), word(bits >> 12), bits));
}

static void fuzz(void) {
    static void (*const kinds[32])(uint32_t bits) = {
        fuzz_flag,      fuzz_flag,      fuzz_flag,    fuzz_flag,      fuzz_flag,    fuzz_wait,
        fuzz_subscribe, fuzz_subscribe, fuzz_command, fuzz_subscribe, fuzz_command, fuzz_subscribe,
        fuzz_command,   fuzz_subscribe, fuzz_command, fuzz_subscribe, fuzz_command, fuzz_command,
        fuzz_command,   fuzz_command,   fuzz_command, fuzz_command,   fuzz_allow,   fuzz_allow,
        fuzz_allow,     fuzz_allow,     fuzz_allow,   fuzz_allow,     fuzz_allow,   fuzz_memop,
        fuzz_memop,     fuzz_garbage,
    };
    uint32_t which = ++kept.words[MADE];
    if (which % 4 == 0)
        renew_words(1);
    uint32_t kind = random();
    kinds[kind >> 27](random());
}

/* Ends the line that was written last. */
static void settle(void) {
    while (allow_ro(CONSOLE, 1, scratch, 1), scratch[0] = '\n', refused(command(CONSOLE, 1, 1, 0)))
        ready(), yield();
    ready();
    yield();
}

void run(void) {
    if (kept.starts == 1) {
        kept.words[STATE] = app_scene * 2654435761u | 1;
        say("seed", "is", NUMBER("seed", app_scene), NUMBER("calls", app_calls));
    }
    renew_words(4 * WORDS);
    while (kept.words[MADE] < app_calls)
        fuzz();
    settle();
    say("fuzz", "done", NUMBER("calls", kept.words[MADE]), NUMBER("refused", kept.words[REFUSED]));
    say("fuzz", "again", NUMBER("starts", kept.starts), NONE);
    stop_neighbours();
    finish();
}
