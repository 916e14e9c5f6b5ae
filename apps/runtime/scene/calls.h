/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Bare system calls for apps that play a role in a scene, in both versions of the interface: four
 * words and a class go in, four registers are returned. The numbers are repeated here on purpose:
 * with the runtime's own list, a mistake in the list would go unnoticed.
 */
#ifndef SCENE_CALLS_H
#define SCENE_CALLS_H

#include <stdbool.h>
#include <stdint.h>

#if TM_ABI == 1
enum { YIELD, SUBSCRIBE, COMMAND, ALLOW, MEMOP };
enum { PERF = 0x90004 };
#else
enum { YIELD, SUBSCRIBE, COMMAND, ALLOW_RW, ALLOW_RO, MEMOP, EXIT, ALLOW_READABLE };
enum { NO_WAIT, WAIT, WAIT_FOR };
enum { TERMINATE, RESTART };
enum { FAILURE = 0, FAILURE_PAIR = 2, SUCCESS = 128, ONE = 129, PAIR = 130, WIDE = 131 };
enum { PERF = 0x90010 };
#endif

enum { FAIL = 1, BUSY, ALREADY, OFF, RESERVE, INVAL, SIZE, CANCEL, NOMEM, NOSUPPORT, NODEVICE };
enum { ALARM = 0x0, CONSOLE = 0x1, DEBUG = 0x8, IPC = 0x10000, ABSENT = 0x9fff0 };
#if TM_ABI == 2
enum { BY_STRING = 0xa0000, BY_PACKAGE = 0xa0001, RELAY = 0xa0010 };
#endif

/* a0 to a3 after a call. */
struct answer {
    uint32_t a0, a1, a2, a3;
};

typedef void upcall(uint32_t first, uint32_t second, uint32_t third, uint32_t userdata);

/* An upcall may run inside the call, so all caller-saved registers count as changed. */
static inline struct answer call(uint32_t class, uint32_t first, uint32_t second, uint32_t third,
                                 uint32_t fourth) {
#if TM_ABI == 1
    register uint32_t a0 __asm__("a0") = class;
    register uint32_t a1 __asm__("a1") = first;
    register uint32_t a2 __asm__("a2") = second;
    register uint32_t a3 __asm__("a3") = third;
    register uint32_t a4 __asm__("a4") = fourth;
#else
    register uint32_t a0 __asm__("a0") = first;
    register uint32_t a1 __asm__("a1") = second;
    register uint32_t a2 __asm__("a2") = third;
    register uint32_t a3 __asm__("a3") = fourth;
    register uint32_t a4 __asm__("a4") = class;
#endif
    __asm__ volatile("ecall"
                     : "+r"(a0), "+r"(a1), "+r"(a2), "+r"(a3), "+r"(a4)
                     :
                     : "memory", "ra", "t0", "t1", "t2", "t3", "t4", "t5", "t6", "a5", "a6", "a7");
    return (struct answer){a0, a1, a2, a3};
}

static inline struct answer command(uint32_t driver, uint32_t number, uint32_t first,
                                    uint32_t second) {
    return call(COMMAND, driver, number, first, second);
}

static inline struct answer subscribe(uint32_t driver, uint32_t number, upcall *function,
                                      uint32_t userdata) {
    return call(SUBSCRIBE, driver, number, (uintptr_t)function, userdata);
}

static inline struct answer memop(uint32_t operation, uint32_t argument) {
    return call(MEMOP, operation, argument, 0, 0);
}

/* Functions with the same arguments in both versions. */
#if TM_ABI == 1
static inline bool refused(struct answer answer) { return (int32_t)answer.a0 < 0; }
static inline uint32_t error_of(struct answer answer) { return -answer.a0; }
static inline uint32_t value_of(struct answer answer) { return answer.a0; }
static inline void yield(void) { call(YIELD, 0, 0, 0, 0); }

static inline struct answer allow(uint32_t driver, uint32_t number, const volatile void *address,
                                  uint32_t length) {
    return call(ALLOW, driver, number, (uintptr_t)address, length);
}
#define allow_rw allow /* version 1 has only one */
#define allow_ro allow
#else
static inline bool refused(struct answer answer) { return answer.a0 < SUCCESS; }
static inline uint32_t error_of(struct answer answer) { return answer.a1; }
static inline uint32_t value_of(struct answer answer) { return answer.a1; }
static inline void yield(void) { call(YIELD, WAIT, 0, 0, 0); }

/* Run an upcall if one waits. Return 1 if one ran, 0 if not, 2 if the kernel did not report it. */
static inline uint32_t poll(void) {
    volatile uint8_t ran = 2;
    call(YIELD, NO_WAIT, (uintptr_t)&ran, 0, 0);
    return ran;
}

static inline struct answer allow_rw(uint32_t driver, uint32_t number, const volatile void *address,
                                     uint32_t length) {
    return call(ALLOW_RW, driver, number, (uintptr_t)address, length);
}

static inline struct answer allow_ro(uint32_t driver, uint32_t number, const volatile void *address,
                                     uint32_t length) {
    return call(ALLOW_RO, driver, number, (uintptr_t)address, length);
}
#endif

static inline uint32_t now(void) { return value_of(command(ALARM, 2, 0, 0)); }

static inline uint32_t milliseconds(uint32_t count) {
    return value_of(command(ALARM, 1, 0, 0)) / 1000 * count;
}

/* Compute for this many ticks, with calls but without a yield. */
static inline void spin(uint32_t ticks) {
    uint32_t start = now();
    while (now() - start <= ticks)
        ;
}

#endif
