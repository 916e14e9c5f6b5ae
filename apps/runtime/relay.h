/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The newer IPC of version 2: registries, in which processes find each other, and the relay. A
 * client sends a request to a service through the relay; the service takes it and responds. The
 * kernel copies both ways, from the sender's out buffer to the receiver's in buffer.
 *
 * All waits use yield-wait-for, so nothing is subscribed.
 */
#ifndef TM_RUNTIME_RELAY_H
#define TM_RUNTIME_RELAY_H

#include "tock.h"

struct tm_process {
    uint32_t low, high;
};

/* Make a command of a registry. Return its failure, the failure in its upcall, or the words of the
 * process's id. */
static inline struct tock_return tm_registry_asked(uint32_t registry, uint32_t command) {
    struct tock_return asked = tock_command(registry, command, 0, 0);
    if (tock_failed(asked))
        return asked;
    struct tock_return response = tock_yield_wait_for(registry, command - 1);
    if (response.variant)
        return (struct tock_return){TOCK_FAILURE, {response.variant, 0, 0}};
    return (struct tock_return){TOCK_SUCCESS_U32_U32, {response.word[0], response.word[1], 0}};
}

/* Allow the name, which the kernel keeps. By string it has 20 bytes. */
static inline struct tock_return tm_registry_name(uint32_t registry, const char *name,
                                                  uint32_t length) {
    return tock_allow_ro(registry, TOCK_REGISTRY_NAME, name, length);
}

static inline struct tock_return tm_registry_find(uint32_t registry, const char *name,
                                                  uint32_t length) {
    struct tock_return named = tm_registry_name(registry, name, length);
    return tock_failed(named) ? named : tm_registry_asked(registry, TOCK_DISCOVER);
}

/* The buffers for the data that this process sends and receives. */
static inline struct tock_return tm_relay_out(const void *memory, uint32_t length) {
    return tock_allow_ro(TOCK_RELAY, TOCK_RELAY_OUT, memory, length);
}

static inline struct tock_return tm_relay_in(void *memory, uint32_t length) {
    return tock_allow_rw(TOCK_RELAY, TOCK_RELAY_IN, memory, length);
}

static inline struct tock_return tm_relay_send(struct tm_process to) {
    return tock_command(TOCK_RELAY, TOCK_RELAY_SEND, to.low, to.high);
}

/* Sleep until there is a response. Return its status, 0 for success, and its length. */
static inline struct tock_return tm_relay_answer(void) {
    return tock_yield_wait_for(TOCK_RELAY, TOCK_RELAY_ANSWER);
}

static inline struct tock_return tm_relay_enable(void) {
    return tock_command(TOCK_RELAY, TOCK_RELAY_ENABLE, 0, 0);
}

/* Sleep until a request waits, and return its client. The request may be gone when it is taken. */
static inline struct tm_process tm_relay_request(void) {
    struct tock_return response = tock_yield_wait_for(TOCK_RELAY, TOCK_RELAY_REQUEST);
    return (struct tm_process){response.variant, response.word[0]};
}

/* Take any request, or that of one client. Return its length, and the client's id. */
static inline struct tock_return tm_relay_take(void) {
    return tock_command(TOCK_RELAY, TOCK_RELAY_TAKE, 0, 0);
}

static inline struct tock_return tm_relay_take_of(struct tm_process client) {
    return tock_command(TOCK_RELAY, TOCK_RELAY_TAKE_OF, client.low, client.high);
}

/* Respond to the request that was taken last. */
static inline struct tock_return tm_relay_respond(void) {
    return tock_command(TOCK_RELAY, TOCK_RELAY_RESPOND, 0, 0);
}

#endif
