/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The server of the group ipc (exchange.h) and of other apps that need an answer: to a client that
 * shares nothing it is an echo. Prints nothing, runs for ever.
 */
#include "exchange.h"

#include <string.h>

static tock_upcall on_echo, on_stamp, on_send, on_copy;
static tock_upcall *const upcalls[ROLES] = {on_echo, on_stamp, on_send, on_copy};

static uint32_t own;
static uint32_t role = ECHO;
static uint32_t counter = TM_PERF_CYCLES;
static uint32_t copy[PAYLOAD_MAX / 4];

/* Take over the client's settings for the next exchange. */
static void obey(uint32_t length, uint32_t address) {
    const volatile struct exchange *exchange = (void *)(uintptr_t)address;
    if (length < sizeof *exchange)
        return;
    counter = exchange->counter;
    if (exchange->role == role || exchange->role >= ROLES)
        return;
    role = exchange->role;
    tm_ipc_serve(own, upcalls[role]);
}

static void write_down(uint32_t address, struct reading at) {
    volatile struct exchange *exchange = (void *)(uintptr_t)address;
    exchange->at.first = at.first;
    exchange->at.second = at.second;
    exchange->seen = exchange->seq;
}

static void on_echo(uint32_t client, uint32_t length, uint32_t address, void *userdata) {
    (void)userdata;
    tm_ipc_notify_client(client);
    obey(length, address);
}

static void on_stamp(uint32_t client, uint32_t length, uint32_t address, void *userdata) {
    struct reading at = take_reading(counter);
    (void)userdata;
    write_down(address, at);
    tm_ipc_notify_client(client);
    obey(length, address);
}

static void on_send(uint32_t client, uint32_t length, uint32_t address, void *userdata) {
    struct reading at = take_reading(counter);
    (void)userdata;
    tm_ipc_notify_client(client);
    write_down(address, at);
    tm_ipc_notify_client(client);
    obey(length, address);
}

/* Is the copy equal to the payload? Its ends show that the payload is new; all of it is compared on
 * request.
 */
static bool is_copied(const struct exchange *exchange) {
    uint32_t words = exchange->size / 4;
    bool equal = copy[words - 1] == exchange->payload[words - 1];
    for (uint32_t i = 0; i < (exchange->check ? words : 1); i++)
        equal = equal && copy[i] == exchange->payload[i];
    return equal;
}

static void on_copy(uint32_t client, uint32_t length, uint32_t address, void *userdata) {
    struct exchange *exchange = (void *)(uintptr_t)address;
    memcpy(copy, exchange->payload, exchange->size);
    struct reading at = take_reading(counter);
    (void)userdata;
    write_down(address, at);
    exchange->good = is_copied(exchange);
    tm_ipc_notify_client(client);
    obey(length, address);
}

int main(void) {
    struct tock_return peer = tm_peer_find(SERVER_NAME, 1);
    if (tock_failed(peer))
        return (int)peer.word[0];
    own = peer.word[0];
    tm_ipc_serve(own, on_echo);
    tm_peer_rest();
}
