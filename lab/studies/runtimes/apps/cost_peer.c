/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The other app of cost.c: it copies each message to its own RAM, and answers. Prints nothing. */
#include "message.h"

#include <string.h>

static void on_message(uint32_t client, uint32_t length, uint32_t address, void *userdata) {
    static uint32_t copy[WORDS_MAX];
    struct message *shared = (void *)(uintptr_t)address;
    (void)userdata;
    if (length < sizeof *shared)
        return;
    memcpy(copy, shared->words, shared->size);
    shared->answer = answer_to(copy, shared->size);
    tm_ipc_notify_client(client);
}

int main(void) { return tm_peer_serve("cost_peer", 1, on_message); }
