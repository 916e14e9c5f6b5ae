/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* An app that only does IPC: it notifies the server (ipc_server.c) and waits for the answer, for
 * ever. */
#include "exchange.h"

static volatile bool answered;

static void on_answer(uint32_t service, uint32_t length, uint32_t address, void *userdata) {
    (void)service, (void)length, (void)address, (void)userdata;
    answered = true;
}

int main(void) {
    struct tock_return server = tm_peer_find(SERVER_NAME, 1);
    if (tock_failed(server))
        return (int)server.word[0];
    tm_ipc_listen(server.word[0], on_answer);
    for (;;) {
        answered = false;
        tm_ipc_notify_service(server.word[0]);
        while (!answered)
            tock_yield_wait();
    }
}
