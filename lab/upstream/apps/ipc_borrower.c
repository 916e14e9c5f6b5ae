/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Adds 1 to the first and the last byte of the memory that another app lends. If that app has taken
 * its memory back, adds 1 to the first byte of the memory that it lent before. */
#include "app.h"

static volatile uint8_t *lent;
static volatile bool notified;
static volatile uint32_t lent_length;

static void note(int sender, int length, int address, void *userdata) {
    (void)sender;
    (void)userdata;
    lent_length = (uint32_t)length;
    if (length)
        lent = (volatile uint8_t *)(uintptr_t)(uint32_t)address;
    notified = true;
}

int main(void) {
    if (!subscribe(IPC, find_app("ipc_borrower"), note, NULL).success)
        return 1;
    for (;;) {
        while (!notified)
            yield();
        notified = false;
        printf("  the borrower is told of bytes: %lu\n", lent_length);
        lent[0]++;
        if (lent_length)
            lent[lent_length - 1]++;
        printf("  the borrower has written\n");
    }
}
