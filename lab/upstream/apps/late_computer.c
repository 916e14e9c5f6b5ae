/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Repeats: computes for several ticks of the alarm, then makes a system call. The calls drift
 * relative to the ticks, so some of them run at the moment when an alarm is due. */
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
