/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The protocol between the clients and the server of the ladder, over either IPC (way.h).
 *
 * A rung is one row: a number of clients, the rate of their requests, and the bytes to encrypt.
 * The leader, whose app reports, announces each rung to the server; the rivals poll the server for
 * it. Each client notes when it asked and when it was answered, and the server's counter values,
 * which come with the answer. In the end the leader fetches all notes and the server's counts.
 */
#ifndef TM_LADDER_H
#define TM_LADDER_H

#include "peer.h"
#include "reading.h"

#include "ladder_rows.h" /* of its catalogue */

#define CLIENTS_MAX 7
#define EACH 8 /* requests of each client in a rung */
#ifdef TM_EIGHT
/* For a kernel with eight slots, whose apps have less RAM. */
#define SIZE_MAX_WORDS (TM_MAX_eight_closed_size / 4)
#define SERVER_LAST TM_INDEX_eight_closed_set_clients_first_6
#define NAP 8 /* more of them, who else would keep the last from the core */
#define LEAD 2000000
#else
#define SIZE_MAX_WORDS (TM_MAX_ladder_closed_size / 4)
#define SERVER_LAST TM_INDEX_ladder_closed_set_clients_first_1
#define NAP 1       /* milliseconds, before a client asks whether there is something new */
#define LEAD 400000 /* cycles until a rung begins: that rivals may have slept, and more */
#endif
/* The name of the server's process. */
#define SERVER TM_NAME(TM_GROUP) "_server"

enum kind {
    JOIN,    /* ask for the rung; the answer's words are a struct rung */
    BEGIN,   /* of the leader: start this rung; the answer says when */
    ENCRYPT, /* these words */
    DEPOSIT, /* my notes: struct note [EACH] */
    COLLECT, /* of the leader: the first word is a client; the answer's words are a struct count,
                and that client's notes if they came */
};

struct rung {
    uint32_t number; /* from 1 on; 0: none yet */
    uint32_t size;   /* bytes of a request */
    uint32_t tick;   /* cycles of a tick of the kernel's alarm */
    uint32_t period; /* ticks between a client's requests; 0: it asks when it has its answer */
    uint32_t begins; /* at this tick; from the leader: this many from now */
};

/* One request. Cycles and instructions are counter values. The counters stop while the core sleeps,
 * but it does not sleep while a request is open. */
struct note {
    uint32_t due; /* cycles since the rung's start, with sleep; 0 without a period */
    struct reading asked, taken, done, answered;
    struct reading ready; /* the client has checked the answer */
};

struct count {
    uint32_t deposited; /* clients whose notes are there, one bit each */
    uint32_t served[CLIENTS_MAX];
};

/* The first words of each message; its own words follow. */
struct message {
    uint32_t kind;
    uint32_t client;
    uint32_t size; /* bytes of its own words */
    uint32_t good; /* set by the server: it understood the request */
    struct reading taken, done;
    uint32_t words[SIZE_MAX_WORDS];
};
#define HEAD (sizeof(struct message) - 4 * SIZE_MAX_WORDS)

/* In the first half of the scenes the server is first in flash, in the others last. */
static inline uint32_t own_client(void) { return tm_link.slot - (tm_link.scene <= SERVER_LAST); }
static inline uint32_t clients(void) { return tm_link.slots - 1; }

/* Before the first rung: check the cipher against the RFC. */
bool climb_begin(void);

/* Take part in a rung. On failure, returns false and the failed call in `failed`. */
bool climb(const struct rung *rung, struct note notes[EACH], const char **failed);

#endif
