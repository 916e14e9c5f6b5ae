/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The measured system calls as a C program makes them with libtock-c. These replace the bodies of
 * asm/syscalls.S and asm/upcalls.S when the apps are built with LIBTOCK_C=DIR. Each makes the same
 * calls as its counterpart there, checks the library's result, and returns the same two words.
 */
#ifdef TM_LIBTOCK_C
#include <libtock/tock.h>
#include <stdlib.h>

#include "counter.h"

/* The words that a body returns in a0 and a1. */
struct words {
    uint32_t a0, a1;
};

static struct words words(bool success, uint32_t variant, uintptr_t word, uint32_t status) {
    return success ? (struct words){variant, word} : (struct words){TOCK_FAILURE, status};
}

struct words tm_syscall_command(void *arg);
struct words tm_syscall_command_absent(void *arg);
struct words tm_syscall_yield_no_wait(uint8_t *ran);
struct words tm_syscall_subscribe(subscribe_upcall *function);
struct words tm_syscall_allow_rw(const struct words *buffer);
struct words tm_syscall_allow_ro(const struct words *buffer);
struct words tm_syscall_memop(void *arg);
struct words tm_syscall_sbrk(void *arg);
struct words tm_syscall_brk(uint32_t address);
uint32_t tm_upcall_yield_wait(uint32_t *upcalls);
uint32_t tm_upcall_yield_wait_for(void *arg);
uint32_t tm_console_write_and_wait(struct words *write);

/* The library ends an app with this if a kernel returns something that the interface does not
 * allow. */
void exit(int code) {
    (void)code;
    for (;;)
        yield();
}

struct words tm_syscall_command(void *arg) {
    (void)arg;
    syscall_return_t got = command(TM_READ_DRIVER, TM_READ_COMMAND, 0, 0);
    return (struct words){got.type, got.data[0]};
}

struct words tm_syscall_command_absent(void *arg) {
    (void)arg;
    syscall_return_t got = command(TM_ABSENT_DRIVER, TM_READ_COMMAND, 0, 0);
    return (struct words){got.type, got.data[0]};
}

struct words tm_syscall_yield_no_wait(uint8_t *ran) {
    *ran = (uint8_t)yield_no_wait();
    return (struct words){0, 0};
}

struct words tm_syscall_subscribe(subscribe_upcall *function) {
    subscribe_return_t got = subscribe(TOCK_CONSOLE, TOCK_CONSOLE_WRITE, function, 0);
    if (got.success)
        got = subscribe(TOCK_CONSOLE, TOCK_CONSOLE_WRITE, 0, 0);
    return words(got.success, TOCK_SUCCESS_U32_U32, (uintptr_t)got.callback, got.status);
}

struct words tm_syscall_allow_rw(const struct words *buffer) {
    void *address = (void *)(uintptr_t)buffer->a0;
    allow_rw_return_t got = allow_readwrite(TOCK_CONSOLE, TOCK_CONSOLE_WRITE, address, buffer->a1);
    if (got.success)
        got = allow_readwrite(TOCK_CONSOLE, TOCK_CONSOLE_WRITE, 0, 0);
    return words(got.success, TOCK_SUCCESS_U32_U32, (uintptr_t)got.ptr, got.status);
}

struct words tm_syscall_allow_ro(const struct words *buffer) {
    void *address = (void *)(uintptr_t)buffer->a0;
    allow_ro_return_t got = allow_readonly(TOCK_CONSOLE, TOCK_CONSOLE_WRITE, address, buffer->a1);
    if (got.success)
        got = allow_readonly(TOCK_CONSOLE, TOCK_CONSOLE_WRITE, 0, 0);
    return words(got.success, TOCK_SUCCESS_U32_U32, (uintptr_t)got.ptr, got.status);
}

static struct words do_memop(uint32_t operation, uint32_t argument, uint32_t variant) {
    memop_return_t got = memop(operation, argument);
    return words(got.status == TOCK_STATUSCODE_SUCCESS, variant, got.data, got.status);
}

struct words tm_syscall_memop(void *arg) {
    (void)arg;
    return do_memop(TOCK_MEMOP_FLASH_START, 0, TOCK_SUCCESS_U32);
}

struct words tm_syscall_sbrk(void *arg) {
    (void)arg;
    return do_memop(TOCK_MEMOP_SBRK, 8, TOCK_SUCCESS_U32);
}

struct words tm_syscall_brk(uint32_t address) {
    return do_memop(TOCK_MEMOP_BRK, address, TOCK_SUCCESS);
}

uint32_t tm_upcall_yield_wait(uint32_t *upcalls) {
    *upcalls = 0;
    syscall_return_t got = command(TM_PERF, TM_PERF_UPCALL, 0, 0);
    if (got.type != TOCK_SYSCALL_SUCCESS)
        return 0;
    yield();
    return *(volatile uint32_t *)upcalls;
}

uint32_t tm_upcall_yield_wait_for(void *arg) {
    (void)arg;
    syscall_return_t got = command(TM_PERF, TM_PERF_UPCALL, 42, 0);
    return got.type == TOCK_SYSCALL_SUCCESS ? yield_wait_for(TM_PERF, 0).data2 : 0;
}

/* struct tm_write: the count of the upcalls, and the length. */
uint32_t tm_console_write_and_wait(struct words *write) {
    write->a0 = 0;
    syscall_return_t got = command(TOCK_CONSOLE, TOCK_CONSOLE_WRITE, (int)write->a1, 0);
    if (got.type != TOCK_SYSCALL_SUCCESS)
        return 0;
    yield();
    return *(volatile uint32_t *)&write->a0;
}
#endif
