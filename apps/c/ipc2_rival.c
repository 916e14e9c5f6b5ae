/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* A client that sends requests to the server of the group ipc2 for ever, once ipc2_client.c has
 * started it (orders.h). Prints nothing. */
#include "bench.h"
#include "peer.h"

#if TM_ABI == 2
#include "orders.h"

static struct go go;

static struct tock_return await_go(void) {
    struct tock_return registered = tm_registry_asked(TOCK_BY_PACKAGE, TOCK_REGISTER);
    if (tock_failed(registered))
        return registered;
    tm_relay_in(&go, sizeof go);
    tm_relay_enable();
    do
        tm_relay_request();
    while (tock_failed(tm_relay_take()));
    return tm_relay_respond();
}

int main(void) {
    struct tock_return done = await_go();
    while (!tock_failed(done)) {
        done = tm_relay_send(go.server);
        if (!tock_failed(done))
            tm_relay_answer();
    }
    return (int)done.word[0];
}
#else
int main(void) { tm_peer_rest(); }
#endif
