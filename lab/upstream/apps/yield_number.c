/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Yields with a number that TRD 104 reserves. libtock-c has no function for it. */
#include "app.h"

int main(void) {
    printf("yield number 3 ...\n");
    register uint32_t number __asm__("a0") = 3;
    register uint32_t class __asm__("a4") = 0;
    __asm__ volatile("ecall"
                     : "+r"(number), "+r"(class)
                     :
                     : "memory", "ra", "t0", "t1", "t2", "t3", "t4", "t5", "t6", "a1", "a2", "a3",
                       "a5", "a6", "a7");
    printf("returned\n");
    return 0;
}
