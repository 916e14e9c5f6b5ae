/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * IPC in words that fit both versions of the interface, and what a neighbour can be asked for.
 *
 * A request is a buffer of two words that its sender shares: REQUEST, and what is wanted. The
 * neighbour answers by a notification; what it lends is `struct lent`.
 */
#ifndef CONFORMANCE_PEERS_H
#define CONFORMANCE_PEERS_H

#include "report.h"

enum { REQUEST = 0x7e41be66, NEIGHBOURS = 2 };
enum { STOP = 1, LEND, TAKE_BACK };

#define NEIGHBOUR_NAMES                                                                            \
    { "neighbour", "neighbour2" }

/* What the neighbour lends: where its memory is that nobody else may touch, and how often it has
 * looked at it. The words behind are not lent. */
struct lent {
    uint32_t pattern;
    uint32_t rounds;
};

/* The number that the kernel knows a process by; NOBODY if there is none of that name. */
#define NOBODY 0xffffffff
static inline uint32_t find_process(const char *name) {
    char text[16]; /* version 1 takes it from RAM only */
    uint32_t length = 0;
    for (; name[length]; length++)
        ((volatile char *)text)[length] = name[length];
#if TM_ABI == 1
    struct answer found = allow(IPC, 0, text, length);
#else
    allow_ro(IPC, 0, text, length);
    struct answer found = command(IPC, 1, 0, 0);
    allow_ro(IPC, 0, 0, 0);
#endif
    return refused(found) ? NOBODY : value_of(found);
}

static inline struct answer share(uint32_t process, volatile void *buffer, uint32_t length) {
    return allow_rw(IPC, process, buffer, length);
}

static inline struct answer notify_service(uint32_t process) {
#if TM_ABI == 1
    return command(IPC, process, 0, 0);
#else
    return command(IPC, 2, process, 0);
#endif
}

static inline struct answer notify_client(uint32_t process) {
#if TM_ABI == 1
    return command(IPC, process, 1, 0);
#else
    return command(IPC, 3, process, 0);
#endif
}

/* The app's place in flash is also its number as a process. */
static inline struct answer be_service(upcall *function, uint32_t userdata) {
#if TM_ABI == 1
    return subscribe(IPC, 0, function, userdata);
#else
    return subscribe(IPC, app_slot, function, userdata);
#endif
}

#endif
