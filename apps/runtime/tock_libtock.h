/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The calls of tock.h, made by the functions of libtock-c (version 2 only). Its headers and archive
 * are the user's: make apps LIBTOCK_C=DIR. So all calls outside the samples go through the library;
 * libtock_bodies.c has the measured calls.
 */
#ifndef TM_RUNTIME_TOCK_LIBTOCK_H
#define TM_RUNTIME_TOCK_LIBTOCK_H

/* Libtock-c has a function of the same name with other arguments. */
#define tock_exit libtock_exit
#include <libtock/tock.h>
#undef tock_exit

static inline struct tock_return tock_command(uint32_t driver, uint32_t number, uint32_t first,
                                              uint32_t second) {
    syscall_return_t got = command(driver, number, (int)first, (int)second);
    return (struct tock_return){got.type, {got.data[0], got.data[1], got.data[2]}};
}

static inline struct tock_return tm_from_libtock(bool success, uint32_t status, uintptr_t first,
                                                 uintptr_t second) {
    return success ? (struct tock_return){TOCK_SUCCESS_U32_U32, {first, second, 0}}
                   : (struct tock_return){TOCK_FAILURE_U32_U32, {status, first, second}};
}

/* A null function cancels the subscription. */
static inline struct tock_return tock_subscribe(uint32_t driver, uint32_t number,
                                                tock_upcall *function, void *userdata) {
    subscribe_upcall *theirs = (subscribe_upcall *)(uintptr_t)function;
    subscribe_return_t got = subscribe(driver, number, theirs, userdata);
    return tm_from_libtock(got.success, got.status, (uintptr_t)got.callback,
                           (uintptr_t)got.userdata);
}

static inline struct tock_return tock_allow_rw(uint32_t driver, uint32_t number, void *address,
                                               uint32_t length) {
    allow_rw_return_t got = allow_readwrite(driver, number, address, length);
    return tm_from_libtock(got.success, got.status, (uintptr_t)got.ptr, got.size);
}

static inline struct tock_return tock_allow_ro(uint32_t driver, uint32_t number,
                                               const void *address, uint32_t length) {
    allow_ro_return_t got = allow_readonly(driver, number, address, length);
    return tm_from_libtock(got.success, got.status, (uintptr_t)got.ptr, got.size);
}

static inline struct tock_return tock_memop(uint32_t operation, uint32_t argument) {
    memop_return_t got = memop(operation, argument);
    return got.status == TOCK_STATUSCODE_SUCCESS
               ? (struct tock_return){TOCK_SUCCESS_U32, {got.data, 0, 0}}
               : (struct tock_return){TOCK_FAILURE, {got.status, 0, 0}};
}

/* Run a pending upcall, if there is one. Return whether one ran. */
static inline bool tock_yield_no_wait(void) { return yield_no_wait() != 0; }

/* Sleep until an upcall has run. */
static inline void tock_yield_wait(void) { yield(); }

/* Sleep until this upcall is due, and return its arguments (variant, word[0], word[1]); no function
 * runs. */
static inline struct tock_return tock_yield_wait_for(uint32_t driver, uint32_t number) {
    yield_waitfor_return_t got = yield_wait_for(driver, number);
    return (struct tock_return){got.data0, {got.data1, got.data2, 0}};
}

#endif
