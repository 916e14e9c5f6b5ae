/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Lends memory to ipc_borrower, and notifies it. Scene 0: takes the memory back, and notifies it
 * again. Scene 1: lends more of the same memory, and notifies it again. */
#include "peer.h"
#include "say.h"

extern const uint32_t tm_link[]; /* the linker's words; the third is the scene: runtime/crt0.S */

static _Alignas(64) volatile uint8_t memory[128];

int main(void) {
    bool more = tm_link[2] == 1;
    tm_nap(TM_PEER_START_MS);
    uint32_t service = tm_peer_find("ipc_borrower", 1).word[0];
    say_returned("lend 64 bytes: ", tm_ipc_share(service, (void *)memory, 64));
    tm_ipc_notify_service(service);
    tm_nap(TM_PEER_START_MS);
    say_number("the first of them is now ", memory[0]);
    if (more)
        say_returned("lend 128 bytes: ", tm_ipc_share(service, (void *)memory, 128));
    else
        say_returned("take them back: ", tm_ipc_share(service, 0, 0));
    tm_ipc_notify_service(service);
    tm_nap(TM_PEER_START_MS);
    say_number("the first of them is now ", memory[0]);
    return 0;
}
