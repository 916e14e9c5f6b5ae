/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * ML-KEM-768 by PQClean: a key pair, encapsulation and decapsulation, with the bytes 0 to 95
 * instead of random ones. The known answer is the shared secret that the crate ml-kem, an
 * independent implementation, computes from the same bytes (src/bin/mlkem.rs).
 */
#include "program.h"

#include "api.h"
#include <stddef.h>
#include <string.h>

#define NAMED(name) PQCLEAN_MLKEM768_CLEAN_##name

static uint8_t public_key[NAMED(CRYPTO_PUBLICKEYBYTES)], secret_key[NAMED(CRYPTO_SECRETKEYBYTES)];
static uint8_t ciphertext[NAMED(CRYPTO_CIPHERTEXTBYTES)];
static uint8_t sent[NAMED(CRYPTO_BYTES)], received[NAMED(CRYPTO_BYTES)];

static const uint8_t known[NAMED(CRYPTO_BYTES)] = {
    0x9c, 0xdd, 0xd0, 0x89, 0xff, 0xe7, 0x0e, 0x39, 0x96, 0xe7, 0x6f, 0x7c, 0x8d, 0x06, 0x74, 0x6d,
    0xf3, 0x4d, 0x07, 0xe8, 0x65, 0x7b, 0xc0, 0xfc, 0xf2, 0xbb, 0x0e, 0x1c, 0x30, 0x84, 0xae, 0xa1,
};

static uint8_t next; /* next byte for PQClean's random numbers */

int PQCRYPTO_RUST_randombytes(uint8_t *output, size_t n);
int PQCRYPTO_RUST_randombytes(uint8_t *output, size_t n) {
    while (n--)
        *output++ = next++;
    return 0;
}

static void prepare(const uint32_t *value) {
    (void)value;
    memset(sent, 0, sizeof sent);
    memset(received, 0, sizeof received);
    next = 0;
}

static uint32_t work(void *arg) {
    (void)arg;
    return (uint32_t)(NAMED(crypto_kem_keypair)(public_key, secret_key) |
                      NAMED(crypto_kem_enc)(ciphertext, sent, public_key) |
                      NAMED(crypto_kem_dec)(received, ciphertext, secret_key));
}

static bool is_right(const uint32_t *value) {
    (void)value;
    return !memcmp(sent, known, sizeof known) && !memcmp(received, known, sizeof known);
}

TM_PROGRAM(mlkem, mlkem_exchange, 16384, prepare, work, is_right);
