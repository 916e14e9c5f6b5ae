/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Tock's system calls, version 2 (TRD 104), each one inline ecall: nothing stands between a
 * benchmark and the kernel. The numbers are in asm/abi.h.
 */
#ifndef TM_RUNTIME_TOCK_H
#define TM_RUNTIME_TOCK_H

#include <stdbool.h>
#include <stdint.h>

#include "abi.h"

/* What a call returned: the variant (TOCK_SUCCESS…, TOCK_FAILURE…) and its words. */
struct tock_return {
    uint32_t variant;
    uint32_t word[3];
};

typedef void tock_upcall(uint32_t first, uint32_t second, uint32_t third, void *userdata);

/* All four argument registers come back changed; the rest the kernel keeps, except over a yield. */
static inline struct tock_return tock_call(uint32_t class, uint32_t first, uint32_t second,
                                           uint32_t third, uint32_t fourth) {
    register uint32_t a0 __asm__("a0") = first;
    register uint32_t a1 __asm__("a1") = second;
    register uint32_t a2 __asm__("a2") = third;
    register uint32_t a3 __asm__("a3") = fourth;
    register uint32_t a4 __asm__("a4") = class;
    __asm__ volatile("ecall" : "+r"(a0), "+r"(a1), "+r"(a2), "+r"(a3), "+r"(a4) : : "memory");
    return (struct tock_return){a0, {a1, a2, a3}};
}

static inline bool tock_failed(struct tock_return returned) {
    return returned.variant < TOCK_SUCCESS;
}

static inline struct tock_return tock_command(uint32_t driver, uint32_t number, uint32_t first,
                                              uint32_t second) {
    return tock_call(TOCK_COMMAND, driver, number, first, second);
}

/* A null function takes the upcall back. */
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

/* The upcall runs inside this ecall, as an ordinary procedure: all that a call clobbers is gone. */
static inline struct tock_return tock_yield(uint32_t kind, uint32_t first, uint32_t second) {
    register uint32_t a0 __asm__("a0") = kind;
    register uint32_t a1 __asm__("a1") = first;
    register uint32_t a2 __asm__("a2") = second;
    register uint32_t a3 __asm__("a3") = 0;
    register uint32_t a4 __asm__("a4") = TOCK_YIELD;
    __asm__ volatile("ecall"
                     : "+r"(a0), "+r"(a1), "+r"(a2), "+r"(a3), "+r"(a4)
                     :
                     : "memory", "ra", "t0", "t1", "t2", "t3", "t4", "t5", "t6", "a5", "a6", "a7");
    return (struct tock_return){a0, {a1, a2, a3}};
}

/* Run a pending upcall, if there is one; true if one ran. */
static inline bool tock_yield_no_wait(void) {
    volatile uint8_t ran = 0;
    tock_yield(TOCK_YIELD_NO_WAIT, (uintptr_t)&ran, 0);
    return ran != 0;
}

/* Sleep until an upcall has run. */
static inline void tock_yield_wait(void) { tock_yield(TOCK_YIELD_WAIT, 0, 0); }

/* Sleep until this upcall is due, and take its arguments (variant, word[0], word[1]) in its place.
 */
static inline struct tock_return tock_yield_wait_for(uint32_t driver, uint32_t number) {
    return tock_yield(TOCK_YIELD_WAIT_FOR, driver, number);
}

static inline _Noreturn void tock_exit(uint32_t kind, uint32_t code) {
    tock_call(TOCK_EXIT, kind, code, 0, 0);
    __builtin_unreachable();
}

/* The name of an error code, "UNKNOWN" if it has none. */
const char *tock_error_name(uint32_t code);

/* Print one piece of at most 64 bytes and wait until it is out. Ends the app where that fails. */
void tm_console_write(const char *text, uint32_t length);

#endif
