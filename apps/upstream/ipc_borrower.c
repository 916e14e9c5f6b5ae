/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Adds 1 to the first and the last byte of what ipc_lender lends; where it lends nothing any more,
 * to the first byte of what it lent before. */
#include "peer.h"
#include "say.h"

static volatile uint8_t *lent;
static volatile bool notified;
static volatile uint32_t lent_length;

static void note(uint32_t sender, uint32_t length, uint32_t address, void *userdata) {
    (void)sender;
    (void)userdata;
    lent_length = length;
    if (length)
        lent = (volatile uint8_t *)(uintptr_t)address;
    notified = true;
}

int main(void) {
    tm_ipc_serve(tm_peer_find("ipc_borrower", 1).word[0], note);
    for (;;) {
        while (!notified)
            tock_yield_wait();
        notified = false;
        say_number("  the borrower is told of bytes: ", lent_length);
        lent[0]++;
        if (lent_length)
            lent[lent_length - 1]++;
        say("  the borrower has written\n");
    }
}
