/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * A client's request for crypto, with room for the answer. All the code is one object, crypto.o.
 * The app itself, the service apps and the kernel link it, so the same code does the work in all of
 * them.
 */
#ifndef TM_PROGRAMS_JOB_H
#define TM_PROGRAMS_JOB_H

#include <stdint.h>

#define JOB_TEXT_MOST 4096
#define JOB_WRONG 1

enum job_task {
    JOB_SEAL = 1, /* ChaCha20-Poly1305: `length` bytes of text in place, its tag to the answer */
    JOB_MAKE_KEY, /* ML-KEM-768: keep a key pair; a ciphertext for it to the text, its secret to the
                     answer. From known bytes, not from random ones */
    JOB_DECAPSULATE, /* the secret of the ciphertext in the text, by the key that was kept */
};

/* cipher.rs and the kernel's driver have the same layout. */
struct job {
    uint32_t task;
    uint32_t length; /* of the text */
    uint32_t status; /* 0 or JOB_WRONG */
    uint8_t key[32], nonce[12];
    uint8_t answer[32];
    uint8_t text[JOB_TEXT_MOST];
};
#define JOB_HEAD (sizeof(struct job) - JOB_TEXT_MOST)

/* Do the job. Returns the length of the answer, from the start of the job. */
uint32_t tm_crypto(struct job *job);

#endif
