/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The app ctx: the cost of passing a token on. This app is in the first slot, ring.c in the slots
 * after it; each notifies the next one and yields. A sample has as many rounds as make up the hops
 * of the catalogue.
 */
#include "ring.h"
#include "sampling.h"

static uint32_t members[4]; /* IPC numbers, by slot */
static uint32_t size;
static uint32_t *set; /* after the few samples: RAM is short for four apps on the Nexys Video */
static volatile uint32_t tokens;

static void on_token(uint32_t sender, uint32_t length, uint32_t address, void *userdata) {
    (void)sender, (void)length, (void)address, (void)userdata;
    tokens++;
}

static void await_token(void) {
    while (!tokens)
        tock_yield_wait();
    tokens = 0;
}

/* Return how often the token was sent successfully. */
static uint32_t rounds(void *arg) {
    uint32_t done = 0;
    for (uint32_t i = (uintptr_t)arg; i > 0; i--) {
        ring_walk(set, ring_kib[size]);
        if (tock_failed(tm_ipc_notify_service(members[1])))
            break;
        await_token();
        done++;
    }
    return done;
}

/* Join the ring, once. The other apps have had time to register. */
static bool join(struct tm_run *run) {
    set = tm_behind_samples(run->bench->samples, RING_WORDS);
    if (!tm_verify(run, set))
        return false;
    for (uint32_t slot = 0; slot < tm_link.slots; slot++) {
        struct tock_return peer = ring_find(slot);
        if (!tm_require(run, "ipc_discover", peer))
            return false;
        members[slot] = peer.word[0];
    }
    return tm_require(run, "ipc_subscribe", tm_ipc_serve(members[0], on_token));
}

static bool grow(struct tm_run *run) {
    for (uint32_t slot = 1; slot < tm_link.slots; slot++) {
        if (!tm_require(run, "ipc_notify", tm_ipc_notify_client(members[slot])))
            return false;
        await_token();
    }
    size++;
    return true;
}

static bool setup(struct tm_run *run) {
    static bool joined;
    if (!joined && !join(run))
        return false;
    joined = true;
    while (ring_kib[size] != run->value[1])
        if (!grow(run))
            return false;
    run->expect = run->bench->inner / run->value[0];
    run->shot.arg = (void *)(uintptr_t)run->expect;
    return true;
}

/* A hop in a larger ring has nearly the same events. */
TM_BENCH(ctx_ring, .body = rounds, .setup = setup, .events_to = 2);
TM_APP(ctx);
