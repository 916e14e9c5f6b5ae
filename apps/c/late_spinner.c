/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * An app that uses all the time it gets, but only some time after its start. So the app next to it
 * can first measure the overhead of the counters without time slices.
 */
#include "alarm.h"

int main(void) {
    tm_nap(20);
    for (;;)
        __asm__ volatile("");
}
