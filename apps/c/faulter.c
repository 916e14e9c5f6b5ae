/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* An app that reads what it may not when it is notified: the word at address 0. Prints nothing. */
#include "bench.h"
#include "ipc.h"

static void on_notify(uint32_t sender, uint32_t length, uint32_t address, void *userdata) {
    (void)sender, (void)length, (void)address, (void)userdata;
    __asm__ volatile(".globl tm_mark_fault\n"
                     "tm_mark_fault: lw zero, 0(zero)");
}

/* Which of its kind this is follows from its slot. */
int main(void) {
    static char name[] = "faulterN";
    name[7] = (char)('1' + tm_link.slot);
    struct tock_return found = tm_ipc_find(name, tm_link.slot ? 8 : 7);
    if (tock_failed(found))
        return (int)found.word[0];
    tm_ipc_serve(found.word[0], on_notify);
    for (;;)
        tock_yield_wait();
}
