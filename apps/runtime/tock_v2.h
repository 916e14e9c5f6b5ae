/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Version 2 of the system-call interface (TRD 104), for tock.h. */
#ifndef TM_RUNTIME_TOCK_V2_H
#define TM_RUNTIME_TOCK_V2_H

#ifdef __riscv
#include "ecall.h"
#else
#include "thumb/svc.h"
#endif

/* Return the result of a body that returned a call's a0 and a1. */
static inline struct tock_return tock_returned(const uint32_t result[2]) {
    return (struct tock_return){result[0], {result[1], 0, 0}};
}

#ifdef TM_LIBTOCK_C
#include "tock_libtock.h"
#else
static inline struct tock_return tock_command(uint32_t driver, uint32_t number, uint32_t first,
                                              uint32_t second) {
    return tock_call(TOCK_COMMAND, driver, number, first, second);
}

/* A null function cancels the subscription. */
static inline struct tock_return tock_subscribe(uint32_t driver, uint32_t number,
                                                tock_upcall *function, void *userdata) {
    return tock_call(TOCK_SUBSCRIBE, driver, number, (uintptr_t)function, (uintptr_t)userdata);
}

static inline struct tock_return tock_allow_rw(uint32_t driver, uint32_t number, void *address,
                                               uint32_t length) {
    return tock_call(TOCK_ALLOW_RW, driver, number, (uintptr_t)address, length);
}

static inline struct tock_return tock_allow_ro(uint32_t driver, uint32_t number,
                                               const void *address, uint32_t length) {
    return tock_call(TOCK_ALLOW_RO, driver, number, (uintptr_t)address, length);
}

static inline struct tock_return tock_memop(uint32_t operation, uint32_t argument) {
    return tock_call(TOCK_MEMOP, operation, argument, 0, 0);
}

/* Run a pending upcall, if there is one. Return whether one ran. */
static inline bool tock_yield_no_wait(void) {
    volatile uint8_t ran = 0;
    tock_yield(TOCK_YIELD_NO_WAIT, (uintptr_t)&ran, 0);
    return ran != 0;
}

/* Sleep until an upcall has run. */
static inline void tock_yield_wait(void) { tock_yield(TOCK_YIELD_WAIT, 0, 0); }

/* Sleep until this upcall is due, and return its arguments (variant, word[0], word[1]); no function
 * runs. */
static inline struct tock_return tock_yield_wait_for(uint32_t driver, uint32_t number) {
    return tock_yield(TOCK_YIELD_WAIT_FOR, driver, number);
}
#endif

static inline _Noreturn void tock_exit(uint32_t kind, uint32_t code) {
    tock_call(TOCK_EXIT, kind, code, 0, 0);
    __builtin_unreachable();
}

/* Return the cycle counter, low half: Perf command 1. */
static inline uint32_t tm_cycles(void) {
    return tock_command(TM_PERF, TM_PERF_CYCLES, 0, 0).word[0];
}

#endif
