/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * IPC, on both versions of the interface. A process is known by a number, which is found by its
 * name: on version 2 its index, on version 1 one more. Each may be a service, which others notify
 * by that number, and a client of others.
 *
 * An upcall of IPC gets the sender's number, and length and address of what the sender shares.
 */
#ifndef TM_RUNTIME_IPC_H
#define TM_RUNTIME_IPC_H

#include "tock.h"

/* The number of the process of this name, which stands in RAM (version 1 wants it there). */
static inline struct tock_return tm_ipc_find(char *name, uint32_t length) {
#if TM_ABI == 1
    return tock_allow_rw(TOCK_IPC, TOCK_IPC_NAME, name, length);
#else
    struct tock_return named = tock_allow_ro(TOCK_IPC, TOCK_IPC_NAME, name, length);
    return tock_failed(named) ? named : tock_command(TOCK_IPC, TOCK_IPC_FIND, 0, 0);
#endif
}

/* Be a service: `own` is this process's number. */
static inline struct tock_return tm_ipc_serve(uint32_t own, tock_upcall *function) {
    (void)own;
    return tock_subscribe(TOCK_IPC, TM_BY_ABI(TOCK_IPC_SERVE, own), function, 0);
}

/* Be a client of a service, and hear from it. */
static inline struct tock_return tm_ipc_listen(uint32_t service, tock_upcall *function) {
    return tock_subscribe(TOCK_IPC, service, function, 0);
}

static inline struct tock_return tm_ipc_notify_service(uint32_t service) {
    return TM_BY_ABI(tock_command(TOCK_IPC, service, TOCK_IPC_NOTIFY_SERVICE, 0),
                     tock_command(TOCK_IPC, TOCK_IPC_NOTIFY_SERVICE, service, 0));
}

/* As a service, notify a client of it. */
static inline struct tock_return tm_ipc_notify_client(uint32_t client) {
    return TM_BY_ABI(tock_command(TOCK_IPC, client, TOCK_IPC_NOTIFY_CLIENT, 0),
                     tock_command(TOCK_IPC, TOCK_IPC_NOTIFY_CLIENT, client, 0));
}

/* Let another process reach this memory, from the next notification on; or take it back, with 0. */
static inline struct tock_return tm_ipc_share(uint32_t with, void *memory, uint32_t length) {
    return tock_allow_rw(TOCK_IPC, with, memory, length);
}

#endif
