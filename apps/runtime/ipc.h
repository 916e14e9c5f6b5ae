/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * IPC, in both versions of the interface. A process has a number, which others find by its name:
 * its index in version 2, its index plus one in version 1. Each process may be a service, which
 * others notify by that number, and a client of others.
 *
 * An IPC upcall gets the sender's number, and the length and address of the sender's shared buffer.
 */
#ifndef TM_RUNTIME_IPC_H
#define TM_RUNTIME_IPC_H

#include "tock.h"

/* Find the number of the process with this name, which must be in RAM (for version 1). */
static inline struct tock_return tm_ipc_find(char *name, uint32_t length) {
#if TM_ABI == 1
    return tock_allow_rw(TOCK_IPC, TOCK_IPC_NAME, name, length);
#else
    struct tock_return named = tock_allow_ro(TOCK_IPC, TOCK_IPC_NAME, name, length);
    return tock_failed(named) ? named : tock_command(TOCK_IPC, TOCK_IPC_FIND, 0, 0);
#endif
}

/* Become a service; `own` is this process's number. */
static inline struct tock_return tm_ipc_serve(uint32_t own, tock_upcall *function) {
    (void)own;
    return tock_subscribe(TOCK_IPC, TM_BY_ABI(TOCK_IPC_SERVE, own), function, 0);
}

/* Become a client of a service, and receive its notifications. */
static inline struct tock_return tm_ipc_listen(uint32_t service, tock_upcall *function) {
    return tock_subscribe(TOCK_IPC, service, function, 0);
}

static inline struct tock_return tm_ipc_notify_service(uint32_t service) {
    return TM_BY_ABI(tock_command(TOCK_IPC, service, TOCK_IPC_NOTIFY_SERVICE, 0),
                     tock_command(TOCK_IPC, TOCK_IPC_NOTIFY_SERVICE, service, 0));
}

/* As a service, notify a client. */
static inline struct tock_return tm_ipc_notify_client(uint32_t client) {
    return TM_BY_ABI(tock_command(TOCK_IPC, client, TOCK_IPC_NOTIFY_CLIENT, 0),
                     tock_command(TOCK_IPC, TOCK_IPC_NOTIFY_CLIENT, client, 0));
}

/* Share memory with another process, which can access it after the next notification. 0 takes it
 * back. */
static inline struct tock_return tm_ipc_share(uint32_t with, void *memory, uint32_t length) {
    return tock_allow_rw(TOCK_IPC, with, memory, length);
}

#endif
