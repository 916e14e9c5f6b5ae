/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The transport of the ladder's messages: the old IPC, where the server works in a client's shared
 * buffer, or, with TM_RELAY, the new one, which copies.
 */
#ifndef TM_LADDER_WAY_H
#define TM_LADDER_WAY_H

#include "ladder.h"

/* A client's buffers for requests and answers. */
extern struct message *const request;
extern const struct message *const answer;

/* Find the server. Returns an error if it does not exist. */
struct tock_return way_find(void);

/* Send a request with `request->size` bytes after the head, and wait for the answer. */
struct tock_return way_ask(struct reading *asked, struct reading *answered);

/* Serve for ever, in the server. Returns only an error, main's exit code. */
int way_serve(void (*handle)(struct message *message, struct reading taken));

#endif
