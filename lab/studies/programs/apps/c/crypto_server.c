/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The service of crypto.c with the old IPC: it works in the memory that the client shares. */
#include "program.h"

#include "crypto/job.h"
#include "peer.h"

static void on_job(uint32_t client, uint32_t length, uint32_t address, void *userdata) {
    struct job *job = (void *)(uintptr_t)address;
    (void)userdata;
    if (length >= sizeof *job)
        tm_crypto(job);
    tm_ipc_notify_client(client);
}

TM_STACK(20480);
int main(void) { return tm_peer_serve("crypto_server", 1, on_job); }
