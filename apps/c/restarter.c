/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * An app that starts again whenever it is notified, and tells the app boot when it has. Prints
 * nothing.
 */
#include "peer.h"

static uint32_t client;

static void on_notify(uint32_t sender, uint32_t length, uint32_t address, void *userdata) {
    (void)sender, (void)length, (void)address, (void)userdata;
#if TM_ABI == 2
    __asm__ volatile("li a0, %0\n"
                     "li a1, 0\n"
                     "li a4, %1\n"
                     ".globl tm_mark_exit\n"
                     "tm_mark_exit: ecall"
                     :
                     : "i"(TOCK_EXIT_RESTART), "i"(TOCK_EXIT)
                     : "a0", "a1", "a4", "memory");
#endif
}

int main(void) {
    struct tock_return self = tm_peer_find("restarter", 1);
    struct tock_return other = tm_peer_find("boot", 1);
    if (tock_failed(self) || tock_failed(other))
        return 1;
    client = other.word[0];
    tm_ipc_serve(self.word[0], on_notify);
    tm_ipc_notify_client(client);
    tm_peer_rest();
}
