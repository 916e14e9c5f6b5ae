/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * What the client of the group ipc2, its server and its rivals say to each other by the relay of
 * requests.
 *
 * An order is a request by its own: what the server does with those that follow. All other requests
 * have another length. What is sent is words; the server tells what it got by their sum.
 */
#ifndef TM_APPS_ORDERS_H
#define TM_APPS_ORDERS_H

#include "reading.h"
#include "relay.h"

#define SERVER_STRING "tockmark ipc2 server" /* 20 letters */
#define SERVER_PACKAGE "ipc2_server"
#define RIVAL_PACKAGE "ipc2_rival" /* the second has a 2 behind it */
#define RIVALS 2
#define WORDS_MAX (TM_MAX_ipc2_round_trip_size / 4)
#define STARVED 48 /* answers to others, in a contest */
#define OBEYED 0x0b3e7edd

enum task {
    ECHO,    /* answer with what came */
    STAMP,   /* take, read the counters, answer with a note */
    CONTEST, /* serve everybody, until one client has enough answers, or others too many */
};

struct order {
    uint32_t mark; /* the order's own word */
    uint32_t task;
    uint32_t size;    /* ECHO: bytes of an answer */
    uint32_t check;   /* STAMP: sum up all that came, not its ends alone */
    uint32_t of;      /* CONTEST: the client that counts, by the low word of its id; 0xffffffff:
                         who gives the order */
    uint32_t answers; /* CONTEST: how many it is to have, behind its first */
};
#define ORDER_MARK 0x0de40de4
#define WHO_ORDERS 0xffffffff

/* The answer to a STAMP. */
struct note {
    struct reading at;
    uint32_t length;
    uint32_t sum;
};

/* What ends a CONTEST. */
struct score {
    struct reading from, to;
    uint32_t enough; /* the client that counts had as many answers as it was to have */
};

/* Sent to a rival, before it asks for ever. */
struct go {
    struct tm_process server;
};

/* A sum in which each word has its place: of all of them, or of the ends. */
static inline uint32_t sum_of(const uint32_t *words, uint32_t count, bool all) {
    uint32_t sum = count, step = all || count < 2 ? 1 : count - 1;
    for (uint32_t i = 0; i < count; i += step)
        sum = sum * 31 + words[i];
    return sum;
}

#endif
