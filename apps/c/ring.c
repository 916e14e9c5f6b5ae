/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * A member of the ring of the group ctx. When the previous member notifies it, it walks over its
 * working set and notifies the next one; the last member notifies ctx.c, where the ring begins.
 * When ctx.c notifies it as a client, it changes to the next size of the set and confirms that.
 * Prints nothing.
 */
#include "ring.h"

static uint32_t ctx, next, size;
static uint32_t set[RING_WORDS];

static void on_token(uint32_t sender, uint32_t length, uint32_t address, void *userdata) {
    (void)sender, (void)length, (void)address, (void)userdata;
    ring_walk(set, ring_kib[size]);
    tm_ipc_notify_service(next);
}

static void on_grow(uint32_t sender, uint32_t length, uint32_t address, void *userdata) {
    (void)sender, (void)length, (void)address, (void)userdata;
    size++;
    tm_ipc_notify_service(ctx);
}

int main(void) {
    struct tock_return peers[] = {
        ring_find(0),
        ring_find(tm_link.slot),
        ring_find((tm_link.slot + 1) % tm_link.slots),
    };
    for (int i = 0; i < 3; i++)
        if (tock_failed(peers[i]))
            return (int)peers[i].word[0];
    ctx = peers[0].word[0];
    next = peers[2].word[0];
    tm_ipc_serve(peers[1].word[0], on_token);
    tm_ipc_listen(ctx, on_grow);
    tm_peer_rest();
}
