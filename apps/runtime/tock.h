/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Tock's system calls, the same functions in both versions of the interface. tock_v1.h and
 * tock_v2.h make each of them one inline ecall, so there is no code between a benchmark and the
 * kernel. The numbers are in asm/abi.h.
 *
 *     tock_command      tock_subscribe     tock_allow_rw   tock_allow_ro   tock_memop
 *     tock_yield_wait   tock_exit          tock_returned   tm_cycles
 *     tock_yield_no_wait, tock_yield_wait_for: version 2 only
 */
#ifndef TM_RUNTIME_TOCK_H
#define TM_RUNTIME_TOCK_H

#include <stdbool.h>
#include <stdint.h>

#include "abi.h"

/* The result of a call: the variant (TOCK_SUCCESS…, TOCK_FAILURE…) and its words. The first word of
 * a failure is its error code. */
struct tock_return {
    uint32_t variant;
    uint32_t word[3];
};

typedef void tock_upcall(uint32_t first, uint32_t second, uint32_t third, void *userdata);

static inline bool tock_failed(struct tock_return returned) {
    return returned.variant < TOCK_SUCCESS;
}

#if TM_ABI == 1
#include "tock_v1.h"
#else
#include "tock_v2.h"
#endif

/* A choice by version: TM_BY_ABI(in version 1, in version 2). */
#if TM_ABI == 1
#define TM_BY_ABI(v1, v2) v1
#else
#define TM_BY_ABI(v1, v2) v2
#endif

/* Move the break up by `bytes`, and return the address of the new memory, or 0 if there is too
 * little RAM. */
static inline void *tock_more_ram(uint32_t bytes) {
    struct tock_return returned = tock_memop(TOCK_MEMOP_SBRK, bytes);
    return tock_failed(returned) ? 0 : (void *)(uintptr_t)returned.word[0];
}

/* The name of an error code, "UNKNOWN" if it has none. */
const char *tock_error_name(uint32_t code);

/* Print, and wait until the text has been sent. Ends the app on failure. */
void tm_console_write(const char *text, uint32_t length);

#endif
