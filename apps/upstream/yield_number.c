/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Yields with a number that TRD 104 reserves. */
#include "say.h"

int main(void) {
    say("yield number 3 ...\n");
    tock_yield(3, 0, 0);
    say("returned\n");
    return 0;
}
