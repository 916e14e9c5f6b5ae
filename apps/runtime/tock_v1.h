/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Version 1 of the system-call interface (Tock 1.x), for tock.h: the class is in a0, the arguments
 * are in a1 to a4, and the result is one signed word in a0, negative for an error. There is one
 * allow, whose buffers must be in RAM; one yield, which waits; and no exit.
 */
#ifndef TM_RUNTIME_TOCK_V1_H
#define TM_RUNTIME_TOCK_V1_H

/* Only a0 changes; the kernel preserves the other registers, except over a yield. */
static inline uint32_t tock_call(uint32_t class, uint32_t first, uint32_t second, uint32_t third,
                                 uint32_t fourth) {
    register uint32_t a0 __asm__("a0") = class;
    register uint32_t a1 __asm__("a1") = first;
    register uint32_t a2 __asm__("a2") = second;
    register uint32_t a3 __asm__("a3") = third;
    register uint32_t a4 __asm__("a4") = fourth;
    __asm__ volatile("ecall" : "+r"(a0), "+r"(a1), "+r"(a2), "+r"(a3), "+r"(a4) : : "memory");
    return a0;
}

/* Return the result of a body that returned a call's a0. The negative of an error is its code. */
static inline struct tock_return tock_returned(const uint32_t result[2]) {
    uint32_t word = result[0];
    return (int32_t)word < 0 ? (struct tock_return){TOCK_FAILURE, {-word, 0, 0}}
                             : (struct tock_return){TOCK_SUCCESS_U32, {word, 0, 0}};
}

static inline struct tock_return tock_command(uint32_t driver, uint32_t number, uint32_t first,
                                              uint32_t second) {
    return tock_returned((uint32_t[2]){tock_call(TOCK_COMMAND, driver, number, first, second)});
}

/* A null function cancels the subscription. */
static inline struct tock_return tock_subscribe(uint32_t driver, uint32_t number,
                                                tock_upcall *function, void *userdata) {
    return tock_returned((uint32_t[2]){
        tock_call(TOCK_SUBSCRIBE, driver, number, (uintptr_t)function, (uintptr_t)userdata)});
}

static inline struct tock_return tock_allow_rw(uint32_t driver, uint32_t number, void *address,
                                               uint32_t length) {
    return tock_returned(
        (uint32_t[2]){tock_call(TOCK_ALLOW, driver, number, (uintptr_t)address, length)});
}

static inline struct tock_return tock_allow_ro(uint32_t driver, uint32_t number,
                                               const void *address, uint32_t length) {
    return tock_returned(
        (uint32_t[2]){tock_call(TOCK_ALLOW, driver, number, (uintptr_t)address, length)});
}

static inline struct tock_return tock_memop(uint32_t operation, uint32_t argument) {
    return tock_returned((uint32_t[2]){tock_call(TOCK_MEMOP, operation, argument, 0, 0)});
}

/* Sleep until an upcall has run. It runs inside this ecall, as an ordinary procedure, so
 * caller-saved registers change. */
static inline void tock_yield_wait(void) {
    register uint32_t a0 __asm__("a0") = TOCK_YIELD;
    __asm__ volatile("ecall"
                     : "+r"(a0)
                     :
                     : "memory", "ra", "t0", "t1", "t2", "t3", "t4", "t5", "t6", "a1", "a2", "a3",
                       "a4", "a5", "a6", "a7");
}

/* There is no exit: an app that is done waits for ever, and its code is lost. */
static inline _Noreturn void tock_exit(uint32_t kind, uint32_t code) {
    (void)kind;
    (void)code;
    for (;;)
        tock_yield_wait();
}

/* Return the cycle counter, low half: Perf command 1, even if that makes it negative. */
static inline uint32_t tm_cycles(void) {
    return tock_call(TOCK_COMMAND, TM_PERF, TM_PERF_CYCLES, 0, 0);
}

#endif
