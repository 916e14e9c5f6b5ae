/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Apps that run next to others: see peer.h. */
#include "peer.h"

#include <string.h>

struct tock_return tm_peer_find(const char *name, uint32_t n) {
    static char text[16]; /* in RAM and static: the kernel may read it again */
    uint32_t length = strlen(name);
    memcpy(text, name, length);
    text[length] = (char)('0' + n);
    return tm_ipc_find(text, length + (n > 1));
}

_Noreturn void tm_peer_rest(void) {
    for (;;)
        tock_yield_wait();
}

int tm_peer_serve(const char *name, uint32_t n, tock_upcall *function) {
    struct tock_return own = tm_peer_find(name, n);
    if (tock_failed(own))
        return (int)own.word[0];
    tm_ipc_serve(own.word[0], function);
    tm_peer_rest();
}
