/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* IPC with the same functions in both versions of the interface. */
#ifndef SCENE_PEERS_H
#define SCENE_PEERS_H

#include "report.h"

/* Return the kernel's number for a process; NOBODY if no process has that name. */
#define NOBODY 0xffffffff
static inline uint32_t find_process(const char *name) {
    char text[16]; /* version 1 requires RAM */
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

/* The app's index in flash is also its number as a process. */
static inline struct answer be_service(upcall *function, uint32_t userdata) {
#if TM_ABI == 1
    return subscribe(IPC, 0, function, userdata);
#else
    return subscribe(IPC, app_slot, function, userdata);
#endif
}

#endif
