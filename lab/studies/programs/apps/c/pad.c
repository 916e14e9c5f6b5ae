/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* An app that is there, KIB KiB longer than it need be, and does nothing. */
#include "peer.h"

#ifndef KIB
#define KIB 0
#endif

static const uint32_t pad[KIB * 256 + 1] = {[KIB * 256] = 1};

int main(void) {
    if (*(const volatile uint32_t *)&pad[KIB * 256])
        tm_peer_rest();
    return 1;
}
