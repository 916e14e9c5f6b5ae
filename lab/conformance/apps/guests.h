/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Asking the neighbours, for the apps that stand between them. */
#ifndef CONFORMANCE_GUESTS_H
#define CONFORMANCE_GUESTS_H

#include "neighbours.h"

/* Asks a neighbour (0 or 1) for something and waits until it has answered. Returns what it lends;
 * null if nothing. */
volatile struct lent *ask(uint32_t neighbour, uint32_t what);

/* Asks both to stop. */
void stop_neighbours(void);

#endif
