/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The protocol between the client of the group ipc2, its server and its rivals, over the relay.
 *
 * An order is a separate request that tells the server how to treat later requests. All other
 * requests have another length. A request consists of words; the server returns their sum.
 */
#ifndef TM_APPS_ORDERS_H
#define TM_APPS_ORDERS_H

#include "reading.h"
#include "relay.h"

#define SERVER_STRING "tockmark ipc2 server" /* 20 letters */
#define SERVER_PACKAGE "ipc2_server"
#define RIVAL_PACKAGE "ipc2_rival" /* the second one's name ends in 2 */
#define RIVALS 2
#define WORDS_MAX (TM_MAX_ipc2_round_trip_size / 4)
#define STARVED 48 /* answers to others, in a contest, before the server gives up */
#define OBEYED 0x0b3e7edd

enum task {
    ECHO,    /* answer with the request */
    STAMP,   /* take the request, read the counters, answer with a note */
    CONTEST, /* serve everybody, until one client has enough answers, or others have too many */
};

struct order {
    uint32_t mark; /* identifies an order */
    uint32_t task;
    uint32_t size;    /* ECHO: bytes of an answer */
    uint32_t check;   /* STAMP: sum up the whole request, not only its ends */
    uint32_t of;      /* CONTEST: the client to measure, by the low word of its id; 0xffffffff:
                         the sender of the order */
    uint32_t answers; /* CONTEST: how many answers it gets after its first one */
};
#define ORDER_MARK 0x0de40de4
#define WHO_ORDERS 0xffffffff

/* The answer to a STAMP. */
struct note {
    struct reading at;
    uint32_t length;
    uint32_t sum;
};

/* The answer that ends a CONTEST. */
struct score {
    struct reading from, to;
    uint32_t enough; /* the measured client got all its answers */
};

/* Sent to a rival once, to start it. */
struct go {
    struct tm_process server;
};

/* Return a sum that depends on the order of the words: of all words, or of the two ends. */
static inline uint32_t sum_of(const uint32_t *words, uint32_t count, bool all) {
    uint32_t sum = count, step = all || count < 2 ? 1 : count - 1;
    for (uint32_t i = 0; i < count; i += step)
        sum = sum * 31 + words[i];
    return sum;
}

#endif
