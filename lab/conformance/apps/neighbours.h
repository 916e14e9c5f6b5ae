/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Requests to a neighbour.
 *
 * A request is a buffer of two words that its sender shares: REQUEST, and the wanted service. The
 * neighbour answers with a notification; it lends a `struct lent`.
 */
#ifndef CONFORMANCE_NEIGHBOURS_H
#define CONFORMANCE_NEIGHBOURS_H

#include "peers.h"

enum { REQUEST = 0x7e41be66, NEIGHBOURS = 2 };
enum { STOP = 1, LEND, TAKE_BACK };

#define NEIGHBOUR_NAMES                                                                            \
    { "neighbour", "neighbour2" }

/* The memory that the neighbour lends: the address of its private memory, and how often it has
 * checked that. The words after it are not lent. */
struct lent {
    uint32_t pattern;
    uint32_t rounds;
};

#endif
