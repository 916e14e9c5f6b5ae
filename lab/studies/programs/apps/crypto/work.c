/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Does a job (job.h): the cipher is in cipher.rs, ML-KEM-768 is by PQClean. */
#include "job.h"

#include "api.h"
#include "randombytes.h"
#include <stddef.h>

#define NAMED(name) PQCLEAN_MLKEM768_CLEAN_##name

static uint8_t secret_key[NAMED(CRYPTO_SECRETKEYBYTES)];

uint32_t tm_cipher_seal(struct job *job);

static uint8_t next; /* next byte for PQClean's random numbers */

int randombytes(uint8_t *output, size_t n) {
    while (n--)
        *output++ = next++;
    return 0;
}

static uint32_t make_key(struct job *job) {
    static uint8_t public_key[NAMED(CRYPTO_PUBLICKEYBYTES)];
    next = 0;
    return (uint32_t)(NAMED(crypto_kem_keypair)(public_key, secret_key) |
                      NAMED(crypto_kem_enc)(job->text, job->answer, public_key));
}

uint32_t tm_crypto(struct job *job) {
    uint32_t length = job->length;
    job->status = JOB_WRONG;
    if (length > sizeof job->text)
        return JOB_HEAD;
    switch (job->task) {
    case JOB_SEAL:
        job->status = tm_cipher_seal(job);
        return JOB_HEAD + length;
    case JOB_MAKE_KEY:
        if (length == NAMED(CRYPTO_CIPHERTEXTBYTES))
            job->status = make_key(job);
        return JOB_HEAD + length;
    case JOB_DECAPSULATE:
        if (length == NAMED(CRYPTO_CIPHERTEXTBYTES))
            job->status = (uint32_t)NAMED(crypto_kem_dec)(job->answer, job->text, secret_key);
        return JOB_HEAD;
    default:
        return JOB_HEAD;
    }
}
