/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Lets an upcall come to which nobody has subscribed, and makes a yield-no-wait, of which TRD 104
 * wants that it returns at once. */
#include "app.h"

int main(void) {
    printf("yield-no-wait ...\n");
    miss_alarm();
    printf("returned, and says that upcalls ran: %lu\n", (uint32_t)yield_no_wait());
    return 0;
}
