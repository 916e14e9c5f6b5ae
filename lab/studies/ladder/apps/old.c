/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The old IPC: see way.h. */
#include "way.h"

static struct message shared;
struct message *const request = &shared;
const struct message *const answer = &shared;

static uint32_t server;
static volatile bool is_answered;
static struct reading heard;

static void on_answer(uint32_t service, uint32_t length, uint32_t address, void *userdata) {
    heard = take_reading(0);
    (void)service, (void)length, (void)address, (void)userdata;
    is_answered = true;
}

struct tock_return way_find(void) {
    struct tock_return found = tm_peer_find(SERVER, 1);
    if (tock_failed(found))
        return found;
    server = found.word[0];
    found = tm_ipc_listen(server, on_answer);
    return tock_failed(found) ? found : tm_ipc_share(server, &shared, sizeof shared);
}

struct tock_return way_ask(struct reading *asked, struct reading *answered) {
    is_answered = false;
    *asked = take_reading(0);
    struct tock_return told = tm_ipc_notify_service(server);
    while (!tock_failed(told) && !is_answered)
        tock_yield_wait();
    *answered = heard;
    return told;
}

static void (*handler)(struct message *message, struct reading taken);

static void on_request(uint32_t client, uint32_t length, uint32_t address, void *userdata) {
    struct reading taken = take_reading(0);
    (void)userdata;
    if (length == sizeof shared)
        handler((struct message *)(uintptr_t)address, taken);
    tm_ipc_notify_client(client);
}

int way_serve(void (*handle)(struct message *message, struct reading taken)) {
    handler = handle;
    return tm_peer_serve(SERVER, 1, on_request);
}
