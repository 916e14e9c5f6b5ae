/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * An app that takes all the time it gets, but only some time after its start: so the app beside it
 * can first measure, undisturbed by time slices, what a reading of the counters costs.
 */
#include "alarm.h"

int main(void) {
    tm_nap(20);
    for (;;)
        __asm__ volatile("");
}
