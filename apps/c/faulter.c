/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* An app that reads what it may not when it is notified: the word at address 0. Prints nothing. */
#include "bench.h"
#include "peer.h"

static void on_notify(uint32_t sender, uint32_t length, uint32_t address, void *userdata) {
    (void)sender, (void)length, (void)address, (void)userdata;
    tm_fault();
}

/* Which of its kind this is follows from its slot: the first one stands in slot 0. */
int main(void) { return tm_peer_serve("faulter", tm_link.slot + 1, on_notify); }
