/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * For apps that stand beside others: they find one another by name, and one that serves sleeps
 * until it is notified, for ever.
 */
#ifndef TM_RUNTIME_PEER_H
#define TM_RUNTIME_PEER_H

#include "alarm.h"
#include "ipc.h"

#define TM_PEER_START_MS 5 /* all that stand beside have begun by then */

/* The number of the n-th process of this name, from 1 on: the tool names them x, x2, x3. */
struct tock_return tm_peer_find(const char *name, uint32_t n);

/* What is left to do is done in upcalls. */
_Noreturn void tm_peer_rest(void);

/* Serve as the n-th process of this name. Returns only an error, for main to end with. */
int tm_peer_serve(const char *name, uint32_t n, tock_upcall *function);

#endif
