/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Notifies ipc_waiter, once it waits. */
#include "peer.h"
#include "say.h"

int main(void) {
    tm_nap(TM_PEER_START_MS);
    say_returned("notify: ", tm_ipc_notify_service(tm_peer_find("ipc_waiter", 1).word[0]));
    return 0;
}
