/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * An app that restarts whenever it is notified, and notifies the app boot after each start. Prints
 * nothing.
 */
#include "bodies.h"
#include "peer.h"

static uint32_t client;

static void on_notify(uint32_t sender, uint32_t length, uint32_t address, void *userdata) {
    (void)sender, (void)length, (void)address, (void)userdata;
    tm_restart();
}

int main(void) {
    struct tock_return self = tm_peer_find("restarter", 1);
    struct tock_return other = tm_peer_find("boot", 1);
    if (tock_failed(self) || tock_failed(other))
        return 1;
    client = other.word[0];
    tm_ipc_serve(self.word[0], on_notify);
    tm_ipc_notify_client(client);
    tm_peer_rest();
}
