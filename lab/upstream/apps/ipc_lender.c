/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Lends memory to ipc_borrower and notifies it. Then takes the memory back and notifies it again.
 * ipc_lender_more.c lends more of the same memory instead of taking it back. */
#include "app.h"

static _Alignas(64) volatile uint8_t memory[128];

static void lend(const char *text, uint32_t borrower, volatile uint8_t *start, uint32_t length) {
    bool lent = allow_readwrite(IPC, borrower, (void *)(uintptr_t)start, length).success;
    printf("%s: %s\n", text, lent ? "OK" : "refused");
    value_of(IPC, IPC_NOTIFY_SERVICE, borrower);
    nap_ms(OTHERS_BEGIN_MS);
    printf("the first of them is now %lu\n", (uint32_t)memory[0]);
}

int main(void) {
    nap_ms(OTHERS_BEGIN_MS);
    uint32_t borrower = find_app("ipc_borrower");
    lend("lend 64 bytes", borrower, memory, 64);
#ifdef LEND_MORE
    lend("lend 128 bytes", borrower, memory, 128);
#else
    lend("take them back", borrower, NULL, 0);
#endif
    return 0;
}
