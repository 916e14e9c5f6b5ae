// SPDX-License-Identifier: Apache-2.0 OR MIT
// The driver Perf as a compiled procedure of paths.inc's COMPILED_PATH; driver.rs is its twin in
// Rust. It may change only a0 to a3: the compiler's options reserve all other registers
// (lab/tockmark_lab/trap_cases.py).
#include <stdint.h>

#include "abi.h"

struct waiting {
    uint32_t pending, arguments[3];
};
#define WAITING ((volatile struct waiting *)0x10000040) // PENDING in kernel.inc

// Return to after the ecall, with the results; the path put ra into mscratch.
static inline __attribute__((always_inline)) _Noreturn void leave(uint32_t first, uint32_t second,
                                                                  uint32_t third) {
    register uint32_t a0 __asm__("a0") = first;
    register uint32_t a1 __asm__("a1") = second;
    register uint32_t a2 __asm__("a2") = third;
    __asm__ volatile("csrr ra, mepc\n"
                     "addi ra, ra, 4\n"
                     "csrw mepc, ra\n"
                     "csrr ra, mscratch\n"
                     "mret"
                     :
                     : "r"(a0), "r"(a1), "r"(a2));
    __builtin_unreachable();
}

static inline uint32_t cycles(void) {
    uint32_t read;
    __asm__ volatile("csrr %0, mcycle" : "=r"(read));
    return read;
}

static inline uint32_t instructions(void) {
    uint32_t read;
    __asm__ volatile("csrr %0, minstret" : "=r"(read));
    return read;
}

_Noreturn void command(uint32_t driver, uint32_t number, uint32_t argument) {
    if (driver != TM_PERF)
        leave(TOCK_FAILURE, TOCK_NODEVICE, 0);
    if (number == TM_PERF_BOTH) {
        uint32_t first = cycles();
        leave(TOCK_SUCCESS_U32_U32, first, instructions());
    }
    if (number != TM_PERF_UPCALL)
        leave(TOCK_FAILURE, TOCK_NOSUPPORT, 0);
    WAITING->arguments[2] = argument;
    WAITING->arguments[0] = cycles();
    WAITING->arguments[1] = instructions();
    WAITING->pending = 1;
    leave(TOCK_SUCCESS, number, argument);
}
