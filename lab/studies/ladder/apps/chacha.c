/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* ChaCha20: see chacha.h. */
#include "chacha.h"

#define WORDS 16
#define COUNTER 12

static const uint32_t start[WORDS] = {
    0x61707865, 0x3320646e, 0x79622d32, 0x6b206574, /* the constants */
    0x03020100, 0x07060504, 0x0b0a0908, 0x0f0e0d0c, /* the key */
    0x13121110, 0x17161514, 0x1b1a1918, 0x1f1e1d1c,
    0x00000001, 0x09000000, 0x4a000000, 0x00000000, /* the counter, the nonce */
};

static inline uint32_t turned(uint32_t word, uint32_t by) { return word << by | word >> (32 - by); }

static inline void quarter(uint32_t *s, uint32_t a, uint32_t b, uint32_t c, uint32_t d) {
    s[a] += s[b], s[d] = turned(s[d] ^ s[a], 16);
    s[c] += s[d], s[b] = turned(s[b] ^ s[c], 12);
    s[a] += s[b], s[d] = turned(s[d] ^ s[a], 8);
    s[c] += s[d], s[b] = turned(s[b] ^ s[c], 7);
}

/* Compute the block with this number. */
static void block(uint32_t *out, uint32_t number) {
    for (uint32_t i = 0; i < WORDS; i++)
        out[i] = start[i] + (i == COUNTER) * number;
    for (uint32_t round = 0; round < 20; round += 2) {
        for (uint32_t i = 0; i < 4; i++)
            quarter(out, i, 4 + i, 8 + i, 12 + i);
        for (uint32_t i = 0; i < 4; i++)
            quarter(out, i, 4 + (i + 1) % 4, 8 + (i + 2) % 4, 12 + (i + 3) % 4);
    }
    for (uint32_t i = 0; i < WORDS; i++)
        out[i] += start[i] + (i == COUNTER) * number;
}

void chacha_words(uint32_t *words, uint32_t count) {
    uint32_t stream[WORDS];
    for (uint32_t i = 0; i < count; i++) {
        if (i % WORDS == 0)
            block(stream, i / WORDS);
        words[i] ^= stream[i % WORDS];
    }
}
