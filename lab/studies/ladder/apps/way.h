/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The way that messages of the ladder go: by the old IPC, where a client's buffer is shared and the
 * server works in it, or, with TM_RELAY, by the new one, which copies.
 */
#ifndef TM_LADDER_WAY_H
#define TM_LADDER_WAY_H

#include "ladder.h"

/* Of a client: where it writes what it asks, and where it reads the answer. */
extern struct message *const request;
extern const struct message *const answer;

/* Find the server. Error if there is none. */
struct tock_return way_find(void);

/* Ask, with `request->size` bytes behind the head, and wait for the answer. */
struct tock_return way_ask(struct reading *asked, struct reading *answered);

/* Of the server: serve for ever. Returns only an error, for main to end with. */
int way_serve(void (*handle)(struct message *message, struct reading taken));

#endif
