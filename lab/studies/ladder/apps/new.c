/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The new IPC: see way.h. */
#include "relay.h"
#include "way.h"

#define TRIES 40 /* to find the server, a millisecond each */

static struct message out, in;
struct message *const request = &out;
const struct message *const answer = &in;

static struct tm_process server;

struct tock_return way_find(void) {
    struct tock_return found = {TOCK_FAILURE, {0, 0, 0}};
    for (uint32_t i = 0; i < TRIES && tock_failed(found); i++) {
        found = tm_nap(1);
        if (!tock_failed(found))
            found = tm_registry_find(TOCK_BY_PACKAGE, SERVER, sizeof SERVER - 1);
    }
    server = (struct tm_process){found.word[0], found.word[1]};
    return found;
}

/* Set the size of outgoing and incoming messages; the kernel is called only if it changes. */
static struct tock_return allow(struct message *from, struct message *to, uint32_t bytes) {
    static uint32_t allowed;
    struct tock_return done = {TOCK_SUCCESS, {0, 0, 0}};
    if (bytes != allowed)
        done = tm_relay_out(from, bytes);
    if (bytes != allowed && to && !tock_failed(done))
        done = tm_relay_in(to, bytes);
    allowed = bytes;
    return done;
}

struct tock_return way_ask(struct reading *asked, struct reading *answered) {
    uint32_t bytes = HEAD + out.size;
    struct tock_return told = allow(&out, &in, bytes);
    if (tock_failed(told))
        return told;
    *asked = take_reading(0);
    told = tm_relay_send(server);
    if (tock_failed(told))
        return told;
    told = tm_relay_answer();
    *answered = take_reading(0);
    if (told.variant || told.word[0] != bytes)
        return (struct tock_return){TOCK_FAILURE,
                                    {told.variant ? told.variant : 1, 0, 0}}; /* FAIL */
    return (struct tock_return){TOCK_SUCCESS, {0, 0, 0}};
}

int way_serve(void (*handle)(struct message *message, struct reading taken)) {
    struct tock_return done = tm_registry_asked(TOCK_BY_PACKAGE, TOCK_REGISTER);
    if (!tock_failed(done))
        done = tm_relay_in(&in, sizeof in);
    if (!tock_failed(done))
        done = tm_relay_enable();
    while (!tock_failed(done)) {
        tm_relay_request();
        struct tock_return got = tm_relay_take();
        struct reading taken = take_reading(0);
        if (tock_failed(got))
            continue;
        if (got.word[0] == HEAD + in.size)
            handle(&in, taken);
        done = allow(&in, 0, got.word[0]);
        if (!tock_failed(done))
            tm_relay_respond(); /* the client may have ended */
    }
    return (int)done.word[0];
}
