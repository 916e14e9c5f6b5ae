/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Tock's system calls, the same functions on both versions of the interface: tock_v1.h and
 * tock_v2.h make each one inline ecall, so that nothing stands between a benchmark and the kernel.
 * The numbers are in asm/abi.h.
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

/* What a call returned: the variant (TOCK_SUCCESS…, TOCK_FAILURE…) and its words, of which the
 * first is the error code of a failure. */
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

/* What differs by version, in a table: TM_BY_ABI(on version 1, on version 2). */
#if TM_ABI == 1
#define TM_BY_ABI(v1, v2) v1
#else
#define TM_BY_ABI(v1, v2) v2
#endif

/* RAM starts and ends where the break is: the first of `bytes` more bytes, or 0 if there are none.
 */
static inline void *tock_more_ram(uint32_t bytes) {
    struct tock_return returned = tock_memop(TOCK_MEMOP_SBRK, bytes);
    return tock_failed(returned) ? 0 : (void *)(uintptr_t)returned.word[0];
}

/* The name of an error code, "UNKNOWN" if it has none. */
const char *tock_error_name(uint32_t code);

/* Print, and wait until it is out. Ends the app where that fails. */
void tm_console_write(const char *text, uint32_t length);

#endif
