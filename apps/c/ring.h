/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The names and working sets of the members of the ring of the group ctx. */
#ifndef TM_APPS_RING_H
#define TM_APPS_RING_H

#include "bench.h"
#include "peer.h"

/* The sizes of a working set, in the order in which ctx.c asks for them. */
static const uint32_t ring_kib[] = {TM_VALUES_ctx_ring_kib};

#define RING_WORDS (256 * TM_MAX_ctx_ring_kib) /* the largest */

/* Read every word of the first `kib` KiB, like mem.read_asm. */
static inline void ring_walk(uint32_t set[RING_WORDS], uint32_t kib) {
    struct tm_span span = {0, set, set + kib * 256};
    if (kib)
        tm_read_words(&span);
}

/* Find the process in this slot: ctx, ring, ring2, ring3. */
static inline struct tock_return ring_find(uint32_t slot) {
    return slot == 0 ? tm_peer_find("ctx", 1) : tm_peer_find("ring", slot);
}

#endif
