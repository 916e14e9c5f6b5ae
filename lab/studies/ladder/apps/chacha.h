/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* ChaCha20 (RFC 8439, 2.4) by the key and the nonce of the RFC's own example (2.3.2): what the
 * server of the ladder does for its clients, and what they hold its answers against. */
#ifndef TM_LADDER_CHACHA_H
#define TM_LADDER_CHACHA_H

#include <stdint.h>

/* Encrypt so many words where they stand, or decrypt them. */
void chacha_words(uint32_t *words, uint32_t count);

#endif
