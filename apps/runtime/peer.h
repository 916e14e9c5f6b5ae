/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * For apps that run next to others: they find each other by name; a service sleeps until it is
 * notified, for ever.
 */
#ifndef TM_RUNTIME_PEER_H
#define TM_RUNTIME_PEER_H

#include "alarm.h"
#include "ipc.h"

#define TM_PEER_START_MS 5 /* by then all apps of the boot have started */

/* Find the number of the n-th process of this name, from 1 on: the tool names them x, x2, x3. */
struct tock_return tm_peer_find(const char *name, uint32_t n);

/* Sleep for ever; all further work happens in upcalls. */
_Noreturn void tm_peer_rest(void);

/* Serve as the n-th process of this name. Returns only an error, which main should end with. */
int tm_peer_serve(const char *name, uint32_t n, tock_upcall *function);

#endif
