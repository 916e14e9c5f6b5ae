/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* What the apps ipc and service agree on. */
#ifndef CONFORMANCE_SERVICE_H
#define CONFORMANCE_SERVICE_H

#include <stdint.h>

/* What the client shares; the service adds one to the word. */
struct shared {
    uint32_t word;
    uint32_t leave; /* the service ends after its answer */
};

enum { SERVICE_USERDATA = 0x5e41 };

/* What the service shares in its answer: the words of the upcall that it got, and how many it got.
 */
struct reply {
    uint32_t length, address, userdata, notifications;
};

#endif
