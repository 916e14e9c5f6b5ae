/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* An app that faults when it is notified: it reads the word at address 0. Prints nothing. */
#include "bench.h"
#include "peer.h"

static void on_notify(uint32_t sender, uint32_t length, uint32_t address, void *userdata) {
    (void)sender, (void)length, (void)address, (void)userdata;
    tm_fault();
}

/* The number of this faulter follows from its slot: the first one is in slot 0. */
int main(void) { return tm_peer_serve("faulter", tm_link.slot + 1, on_notify); }
