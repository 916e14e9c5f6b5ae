/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The protocol between the apps ipc and service. */
#ifndef CONFORMANCE_SERVICE_H
#define CONFORMANCE_SERVICE_H

#include <stdint.h>

/* The client's buffer; the service adds one to the word. */
struct shared {
    uint32_t word;
    uint32_t leave; /* the service ends after its answer */
};

enum { SERVICE_USERDATA = 0x5e41 };

/* The service's answer: the words of its upcall, and the number of its upcalls.
 */
struct reply {
    uint32_t length, address, userdata, notifications;
};

#endif
