/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * What clients and the server of the ladder say to each other, over whichever IPC (way.h).
 *
 * A rung is one row: so many clients ask so often, each to have so many bytes encrypted. The
 * leader, whose app reports, tells the server when one begins, and the rivals, who ask the server
 * now and then, hear it there. Each notes when it asked and was answered, and the server's
 * readings, which come with the answer. In the end the leader has all notes from the server, and
 * what it counted.
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
/* How the server's process is called. */
#define SERVER TM_NAME(TM_GROUP) "_server"

enum kind {
    JOIN,    /* which rung is it? the answer's words are a struct rung */
    BEGIN,   /* of the leader: it is this one; the answer says when */
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
    uint32_t begins; /* at this tick; when the leader says it, so many from now */
};

/* One request. Cycles and instructions as the counters had them, which stand still while the core
 * sleeps; it does not while a request is open. */
struct note {
    uint32_t
        due; /* cycles from the rung's begin, those asleep among them; 0 where there is no period */
    struct reading asked, taken, done, answered;
    struct reading ready; /* the client has held the answer against the known one */
};

struct count {
    uint32_t deposited; /* whose notes are there, a bit each */
    uint32_t served[CLIENTS_MAX];
};

/* The first words of each message; its own words come behind. */
struct message {
    uint32_t kind;
    uint32_t client;
    uint32_t size; /* bytes of its own words */
    uint32_t good; /* the server sets it: it knew what to do */
    struct reading taken, done;
    uint32_t words[SIZE_MAX_WORDS];
};
#define HEAD (sizeof(struct message) - 4 * SIZE_MAX_WORDS)

/* In the first half of the scenes the server stands first in flash, in the others last. */
static inline uint32_t own_client(void) { return tm_link.slot - (tm_link.scene <= SERVER_LAST); }
static inline uint32_t clients(void) { return tm_link.slots - 1; }

/* Before the first: is the cipher the known one? */
bool climb_begin(void);

/* Take part in a rung. What did not go well is told by `failed`, a call: false. */
bool climb(const struct rung *rung, struct note notes[EACH], const char **failed);

#endif
