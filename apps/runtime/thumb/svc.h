/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* A system call of version 2 in Thumb, for tock_v2.h: the class is part of the instruction,
 * arguments and results are in r0 to r3. */
#ifndef TM_RUNTIME_THUMB_SVC_H
#define TM_RUNTIME_THUMB_SVC_H

/* Always inlined, since the class must be a constant. */
static inline __attribute__((always_inline)) struct tock_return
tock_call(uint32_t class, uint32_t first, uint32_t second, uint32_t third, uint32_t fourth) {
    register uint32_t r0 __asm__("r0") = first;
    register uint32_t r1 __asm__("r1") = second;
    register uint32_t r2 __asm__("r2") = third;
    register uint32_t r3 __asm__("r3") = fourth;
    __asm__ volatile("svc %[class]"
                     : "+r"(r0), "+r"(r1), "+r"(r2), "+r"(r3)
                     : [class] "i"(class)
                     : "memory");
    return (struct tock_return){r0, {r1, r2, r3}};
}

/* The upcall runs inside this svc, as an ordinary procedure, so caller-saved registers change. */
static inline struct tock_return tock_yield(uint32_t kind, uint32_t first, uint32_t second) {
    register uint32_t r0 __asm__("r0") = kind;
    register uint32_t r1 __asm__("r1") = first;
    register uint32_t r2 __asm__("r2") = second;
    register uint32_t r3 __asm__("r3") = 0;
    __asm__ volatile("svc %[class]"
                     : "+r"(r0), "+r"(r1), "+r"(r2), "+r"(r3)
                     : [class] "i"(TOCK_YIELD)
                     : "memory", "cc", "r12", "lr");
    return (struct tock_return){r0, {r1, r2, r3}};
}

#endif
