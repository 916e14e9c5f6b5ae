/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Waits for an event without a subscription, then calls yield-no-wait. By TRD 104 this returns at
 * once. */
#include "app.h"

int main(void) {
    printf("yield-no-wait ...\n");
    miss_alarm();
    printf("returned, and says that upcalls ran: %lu\n", (uint32_t)yield_no_wait());
    return 0;
}
