/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* A service that waits for its notification by yield-wait-for. */
#include "peer.h"
#include "say.h"

static void note(uint32_t first, uint32_t second, uint32_t third, void *userdata) {
    (void)first;
    (void)second;
    (void)third;
    (void)userdata;
}

int main(void) {
    uint32_t own = tm_peer_find("ipc_waiter", 1).word[0];
    tm_ipc_serve(own, note);
    say("yield-wait-for a notification ...\n");
    tock_yield_wait_for(TOCK_IPC, own);
    say("notified\n");
    return 0;
}
