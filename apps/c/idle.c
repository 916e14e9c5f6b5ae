/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* An app that is there and does nothing: it sleeps for ever. */
#include "tock.h"

int main(void) {
    for (;;)
        tock_yield_wait();
}
