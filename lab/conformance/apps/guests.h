/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Requests to the neighbours, for the apps between them. */
#ifndef CONFORMANCE_GUESTS_H
#define CONFORMANCE_GUESTS_H

#include "neighbours.h"

/* Asks a neighbour (0 or 1) for something and waits for its answer. Returns what it lends, or null.
 */
volatile struct lent *ask(uint32_t neighbour, uint32_t what);

/* Asks both to stop. */
void stop_neighbours(void);

#endif
