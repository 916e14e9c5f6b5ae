/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* An app that does nothing and is KIB KiB longer than necessary. */
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
