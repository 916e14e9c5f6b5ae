/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The parts of the app hostile: places in memory, and the attempts on them. */
#ifndef CONFORMANCE_HOSTILE_H
#define CONFORMANCE_HOSTILE_H

#include "calls.h"

enum {
    NOTHING,
    FLASH_BEFORE = 22, /* of the neighbours */
    FLASH_BEHIND,
    RAM_BEFORE,
    RAM_BEHIND,
    PATTERN_BEFORE,
    PATTERN_BEHIND,
    BREAK, /* memory of the app that it has not asked for */
    RAM_END,
    PLACES,
};

uint32_t place_address(uint32_t place);

/* An attempt on a number of objects: the places, or objects with their own names. */
struct verb {
    const char *name;
    uint32_t cause; /* of the fault that must follow; NO_FAULT: it must return true */
    bool (*act)(uint32_t argument,
                uint32_t object); /* argument: a place's address, or the object */
    uint32_t count;
    bool on_places; /* on all places, or on the first `count` */
    const char *const *objects;
};

enum { FETCH_FAULT = 1, ILLEGAL = 2, BREAKPOINT = 3, LOAD_FAULT = 5, STORE_FAULT = 7 };
enum { NO_FAULT = 0 };

extern const struct verb verbs[];
extern const uint32_t n_verbs;

/* hostile_calls.c: system calls. */
bool try_allow_rw(uint32_t address, uint32_t place);
bool try_allow_ro(uint32_t address, uint32_t place);
bool try_share(uint32_t address, uint32_t place);
bool try_name(uint32_t address, uint32_t place);
bool try_subscribe(uint32_t address, uint32_t place);
bool try_break(uint32_t address, uint32_t place);
bool try_flag(uint32_t address, uint32_t place);
bool try_stack(uint32_t address, uint32_t place);
bool try_call(uint32_t ignored, uint32_t which);
enum { N_CALLS = 20 };
extern const char *const call_names[N_CALLS];

#endif
