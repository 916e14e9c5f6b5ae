/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* ChaCha20 (RFC 8439, 2.4) with the key and nonce of the RFC's example (2.3.2). The server of the
 * ladder uses it for its clients, and the clients check the answers with it. */
#ifndef TM_LADDER_CHACHA_H
#define TM_LADDER_CHACHA_H

#include <stdint.h>

/* Encrypt or decrypt `count` words in place. */
void chacha_words(uint32_t *words, uint32_t count);

#endif
