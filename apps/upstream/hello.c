/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Says that it runs. */
#include "say.h"

int main(void) {
    say("hello\n");
    return 0;
}
