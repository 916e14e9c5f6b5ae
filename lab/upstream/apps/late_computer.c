/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Computes for several ticks of the alarm, makes one system call, and so on: the calls drift along
 * the ticks, so that one or the other is under way when an alarm falls due. */
#include "app.h"

#define ABSENT_DRIVER 0x9fff0
#define CALLS 400
#define TURNS 8000 /* of a few cycles each */
#define DRIFT 7

int main(void) {
    for (uint32_t call = 0; call < CALLS; call++) {
        for (uint32_t i = TURNS + call * DRIFT; i; i--)
            __asm__ volatile("");
        value_of(ABSENT_DRIVER, 0, 0);
    }
    return 0;
}
