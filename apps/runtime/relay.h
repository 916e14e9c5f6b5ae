/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The newer IPC of version 2: registries, by which a process that registered is found, and the
 * relay. Of the relay a client sends a request to a service, which takes it and responds; the
 * kernel copies both ways, from the one's buffer out to the other's in.
 *
 * What is due is waited for by yield-wait-for, so nothing is subscribed.
 */
#ifndef TM_RUNTIME_RELAY_H
#define TM_RUNTIME_RELAY_H

#include "tock.h"

struct tm_process {
    uint32_t low, high;
};

/* What came of a command of a registry: its failure, or that which its upcall tells; then
 * the words are those of the process's id. */
static inline struct tock_return tm_registry_asked(uint32_t registry, uint32_t command) {
    struct tock_return asked = tock_command(registry, command, 0, 0);
    if (tock_failed(asked))
        return asked;
    struct tock_return told = tock_yield_wait_for(registry, command - 1);
    if (told.variant)
        return (struct tock_return){TOCK_FAILURE, {told.variant, 0, 0}};
    return (struct tock_return){TOCK_SUCCESS_U32_U32, {told.word[0], told.word[1], 0}};
}

/* The name stays the kernel's. By string it has 20 bytes. */
static inline struct tock_return tm_registry_name(uint32_t registry, const char *name,
                                                  uint32_t length) {
    return tock_allow_ro(registry, TOCK_REGISTRY_NAME, name, length);
}

static inline struct tock_return tm_registry_find(uint32_t registry, const char *name,
                                                  uint32_t length) {
    struct tock_return named = tm_registry_name(registry, name, length);
    return tock_failed(named) ? named : tm_registry_asked(registry, TOCK_DISCOVER);
}

/* What others are sent from here, and where what they send comes. */
static inline struct tock_return tm_relay_out(const void *memory, uint32_t length) {
    return tock_allow_ro(TOCK_RELAY, TOCK_RELAY_OUT, memory, length);
}

static inline struct tock_return tm_relay_in(void *memory, uint32_t length) {
    return tock_allow_rw(TOCK_RELAY, TOCK_RELAY_IN, memory, length);
}

static inline struct tock_return tm_relay_send(struct tm_process to) {
    return tock_command(TOCK_RELAY, TOCK_RELAY_SEND, to.low, to.high);
}

/* Sleep until there is an answer: its status, 0 if all is well, and its length. */
static inline struct tock_return tm_relay_answer(void) {
    return tock_yield_wait_for(TOCK_RELAY, TOCK_RELAY_ANSWER);
}

static inline struct tock_return tm_relay_enable(void) {
    return tock_command(TOCK_RELAY, TOCK_RELAY_ENABLE, 0, 0);
}

/* Sleep until a request waits: whose. It may be gone when it is taken. */
static inline struct tm_process tm_relay_request(void) {
    struct tock_return told = tock_yield_wait_for(TOCK_RELAY, TOCK_RELAY_REQUEST);
    return (struct tm_process){told.variant, told.word[0]};
}

/* Take any request, or that of one client: its length, and the client's id. */
static inline struct tock_return tm_relay_take(void) {
    return tock_command(TOCK_RELAY, TOCK_RELAY_TAKE, 0, 0);
}

static inline struct tock_return tm_relay_take_of(struct tm_process client) {
    return tock_command(TOCK_RELAY, TOCK_RELAY_TAKE_OF, client.low, client.high);
}

/* Answer the request that was taken last. */
static inline struct tock_return tm_relay_respond(void) {
    return tock_command(TOCK_RELAY, TOCK_RELAY_RESPOND, 0, 0);
}

#endif
