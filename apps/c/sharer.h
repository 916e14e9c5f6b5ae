/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* What sharer.c and the app that asks it agree on. */
#ifndef TM_APPS_SHARER_H
#define TM_APPS_SHARER_H

#include "bench.h"
#include "ipc.h"

#define SHARER_WORD 0x5a6b7c8d /* the first word of what is shared */

struct sharer_name {
    char text[8];
};

/* The process in this slot, from 1 on: sharer, sharer2, as the tool names them. */
static inline struct tock_return sharer_find(struct sharer_name *name, uint32_t slot) {
    *name = (struct sharer_name){{'s', 'h', 'a', 'r', 'e', 'r', (char)('0' + slot)}};
    return tm_ipc_find(name->text, slot == 1 ? 6 : 7);
}

#endif
