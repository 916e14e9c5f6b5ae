/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The buffer that cost.c shares with cost_peer.c. */
#ifndef TM_RUNTIMES_MESSAGE_H
#define TM_RUNTIMES_MESSAGE_H

#include "bodies.h"
#include "peer.h"

#define WORDS_MAX 256

struct message {
    uint32_t size; /* bytes */
    uint32_t answer;
    uint32_t words[WORDS_MAX];
};

/* The answer to a message, from both its ends. */
static inline uint32_t answer_to(const uint32_t *words, uint32_t size) {
    uint32_t last = words[size / 4 - 1];
    return words[0] ^ (last << 1 | last >> 31);
}

#endif
