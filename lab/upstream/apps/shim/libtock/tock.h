/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* What the apps of lab/upstream/apps/ use of libtock-c's header of this name, by our own runtime:
 * so their sources are built here and in a libtock-c as they are. */
#ifndef UPSTREAM_LIBTOCK_TOCK_H
#define UPSTREAM_LIBTOCK_TOCK_H

#include <stddef.h>

#include <tock.h>

#define TOCK_SYSCALL_SUCCESS 128 /* the first of those that are no failure */

typedef struct {
    uint32_t type;
    uint32_t data[3];
} syscall_return_t;

typedef struct {
    bool success;
    uint32_t status; /* if not */
} subscribe_return_t, allow_rw_return_t, allow_ro_return_t;

typedef struct {
    uint32_t data0, data1, data2;
} yield_waitfor_return_t;

typedef void subscribe_upcall(int first, int second, int third, void *userdata);

static inline syscall_return_t command(uint32_t driver, uint32_t number, int first, int second) {
    struct tock_return got = tock_command(driver, number, (uint32_t)first, (uint32_t)second);
    return (syscall_return_t){got.variant, {got.word[0], got.word[1], got.word[2]}};
}

static inline subscribe_return_t tm_swapped(struct tock_return got) {
    return (subscribe_return_t){!tock_failed(got), tock_failed(got) ? got.word[0] : 0};
}

static inline subscribe_return_t subscribe(uint32_t driver, uint32_t number,
                                           subscribe_upcall *function, void *userdata) {
    tock_upcall *ours = (tock_upcall *)(uintptr_t)function;
    return tm_swapped(tock_subscribe(driver, number, ours, userdata));
}

static inline allow_rw_return_t allow_readwrite(uint32_t driver, uint32_t number, void *memory,
                                                size_t size) {
    return tm_swapped(tock_allow_rw(driver, number, memory, size));
}

static inline allow_ro_return_t allow_readonly(uint32_t driver, uint32_t number, const void *memory,
                                               size_t size) {
    return tm_swapped(tock_allow_ro(driver, number, memory, size));
}

static inline void yield(void) { tock_yield_wait(); }

static inline int yield_no_wait(void) { return tock_yield_no_wait(); }

static inline yield_waitfor_return_t yield_wait_for(uint32_t driver, uint32_t number) {
    struct tock_return got = tock_yield_wait_for(driver, number);
    return (yield_waitfor_return_t){got.variant, got.word[0], got.word[1]};
}

#endif
