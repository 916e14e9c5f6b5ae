/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* A system call of version 2 on RISC-V, for tock_v2.h: the class is in a4, arguments and results
 * are in a0 to a3. */
#ifndef TM_RUNTIME_ECALL_H
#define TM_RUNTIME_ECALL_H

/* All four argument registers change; the kernel preserves the others, except over a yield. */
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

/* The upcall runs inside this ecall, as an ordinary procedure, so caller-saved registers change. */
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

#endif
