/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * What a neighbour can be asked for.
 *
 * A request is a buffer of two words that its sender shares: REQUEST, and what is wanted. The
 * neighbour answers by a notification; what it lends is `struct lent`.
 */
#ifndef CONFORMANCE_NEIGHBOURS_H
#define CONFORMANCE_NEIGHBOURS_H

#include "peers.h"

enum { REQUEST = 0x7e41be66, NEIGHBOURS = 2 };
enum { STOP = 1, LEND, TAKE_BACK };

#define NEIGHBOUR_NAMES                                                                            \
    { "neighbour", "neighbour2" }

/* What the neighbour lends: where its memory is that nobody else may touch, and how often it has
 * looked at it. The words behind are not lent. */
struct lent {
    uint32_t pattern;
    uint32_t rounds;
};

#endif
