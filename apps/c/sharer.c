/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* An app that shares 64 bytes with any app that notifies it, and notifies it back. Prints nothing.
 */
#include "sharer.h"

static uint32_t shared[16];

static void on_ask(uint32_t client, uint32_t length, uint32_t address, void *userdata) {
    (void)length, (void)address, (void)userdata;
    shared[0] = SHARER_WORD;
    tm_ipc_share(client, shared, sizeof shared);
    tm_ipc_notify_client(client);
}

/* The number of this sharer follows from its slot: the first one is in slot 1. */
int main(void) { return tm_peer_serve("sharer", tm_link.slot, on_ask); }
