/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The app hostile: tries what no app may do, one attempt after the other. It prints each attempt
 * and the fault that must follow. When the kernel restarts it, it continues with the next attempt.
 * An attempt is a verb and its object.
 */
#include "hostile.h"
#include "guests.h"
#include "report.h"

const struct identity identity = {"hostile", 3, 0};

/* In kept.words, so that they survive the faults. */
enum { NEXT, TRYING, KNOWS_NEIGHBOURS, PATTERN };

static const struct place {
    const char *name;
    uint32_t address; /* unless it depends on the app's addresses: see place_address */
} places[PLACES] = {
    [NOTHING] = {"nothing", 0},
    {"boot-rom", 0x8080},
    {"manifest", 0x20000000},
    {"kernel-code", 0x20000400},
    {"kernel-flash-end", 0x2002fffc},
    {"boot-rom-ram", 0x10000000},
    {"kernel-stack", 0x10001040},
    {"kernel-state", 0x10001260},
    {"uart-data", 0x4000001c},
    {"timer-compare", 0x40100118},
    {"one-time-memory", 0x4013111c},
    {"power-manager", 0x40400000},
    {"flash-controller", 0x41000000},
    {"core-registers", 0x411f0000},
    {"debug-module", 0x41200000},
    {"interrupt-enable", 0x48002000},
    {"interrupt-claim", 0x48200004},
    {"flash-end", 0x200ffffc},
    {"behind-flash", 0x20100000},
    {"behind-ram", 0x10020000},
    {"unmapped", 0x60000000},
    {"last-word", 0xfffffffc},
    [FLASH_BEFORE] = {"flash-before", 0},
    [FLASH_BEHIND] = {"flash-behind", 0},
    [RAM_BEFORE] = {"ram-before", 0},
    [RAM_BEHIND] = {"ram-behind", 0},
    [PATTERN_BEFORE] = {"pattern-before", 0},
    [PATTERN_BEHIND] = {"pattern-behind", 0},
    [BREAK] = {"own-ram-behind-break", 0},
    [RAM_END] = {"own-ram-end", 0},
};

uint32_t place_address(uint32_t place) {
    switch (place) {
    case FLASH_BEFORE:
        return value_of(memop(4, 0)) - 4;
    case FLASH_BEHIND:
        return value_of(memop(5, 0));
    case RAM_BEFORE:
        return value_of(memop(2, 0)) - 4;
    case RAM_BEHIND:
        return value_of(memop(3, 0));
    case BREAK:
        return value_of(memop(1, 0));
    case RAM_END:
        return value_of(memop(3, 0)) - 4;
    case PATTERN_BEFORE:
    case PATTERN_BEHIND:
        return kept.words[PATTERN + place - PATTERN_BEFORE];
    default:
        return places[place].address;
    }
}

static void copy(char **to, const char *from) {
    while (*from)
        *(*to)++ = *from++;
}

/* "H-12 read kernel-code" */
static void describe(char *text, uint32_t number, const struct verb *verb, uint32_t object) {
    char digits[10];
    uint32_t count = 0;
    copy(&text, "H-");
    do
        digits[count++] = '0' + number % 10;
    while (number /= 10);
    while (count)
        *text++ = digits[--count];
    *text++ = ' ';
    copy(&text, verb->name);
    *text++ = ' ';
    if (verb->on_places)
        copy(&text, places[object].name);
    else
        copy(&text, verb->objects[object]);
    *text = 0;
}

/* Makes attempt `number`, from 1. Returns false if there are fewer. */
static bool attempt(uint32_t number) {
    uint32_t object = number - 1;
    const struct verb *verb = verbs;
    for (; verb < verbs + n_verbs && object >= verb->count; verb++)
        object -= verb->count;
    if (verb == verbs + n_verbs)
        return false;

    char text[80];
    describe(text, number, verb, object);
    uint32_t argument = verb->on_places ? place_address(object) : object;
    say("try", text, NUMBER("cause", verb->cause), verb->on_places ? NUMBER("at", argument) : NONE);
    kept.words[TRYING] = number;
    bool held = verb->act(argument, object);
    kept.words[TRYING] = 0;
    say("tried", held ? "held" : "done", NUMBER("number", number), NONE);
    return true;
}

void run(void) {
    if (!kept.words[KNOWS_NEIGHBOURS]) {
        for (uint32_t i = 0; i < NEIGHBOURS; i++)
            kept.words[PATTERN + i] = ask(i, LEND)->pattern;
        kept.words[KNOWS_NEIGHBOURS] = 1;
    }
    uint32_t faulted = kept.words[TRYING];
    kept.words[TRYING] = 0;
    if (faulted)
        say("tried", "faulted", NUMBER("number", faulted), NONE);
    while (attempt(++kept.words[NEXT]))
        ;
    stop_neighbours();
    finish();
}
