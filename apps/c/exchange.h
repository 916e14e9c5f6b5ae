/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * What the client of the group ipc and its server say to each other: the buffer that the client
 * shares, once, since on Tock a server sees no more than two in its life.
 *
 * An exchange: the client writes its half, notifies, and waits until the server has answered. Times
 * are read from the counters where they matter and written down afterwards, together with the
 * number of the exchange, so that a time that was not taken in this very exchange is found out.
 */
#ifndef TM_APPS_EXCHANGE_H
#define TM_APPS_EXCHANGE_H

#include "bodies.h"
#include "peer.h"
#include "reading.h"

#define PAYLOAD_MAX TM_MAX_ipc_bandwidth_size
#define SERVER_NAME "ipc_server"

/* What the server does when notified. It takes a new role after the exchange that asks for it. */
enum role {
    ECHO,  /* answers */
    STAMP, /* reads the counters, answers */
    SEND,  /* reads the counters, answers, then again when the reading is written down */
    COPY,  /* copies the payload, reads the counters, answers */
    ROLES
};

struct exchange {
    /* the client's half */
    uint32_t seq;
    uint32_t role;
    uint32_t counter; /* version 1: by which Perf command to read, from the next exchange on */
    uint32_t size;    /* bytes of the payload to copy */
    uint32_t check;   /* compare all of the copy, not just its ends */
    /* the server's half */
    uint32_t seen; /* the seq that the reading belongs to */
    struct reading at;
    uint32_t good; /* the copy is a copy */
    uint32_t payload[PAYLOAD_MAX / 4];
};

#endif
