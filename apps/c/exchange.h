/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The protocol between the client of the group ipc and its server: the buffer that the client
 * shares once, since on Tock a server sees at most two buffers in its life.
 *
 * In an exchange the client writes its half, notifies, and waits for the server's answer. Both read
 * the counters at the moments that matter, and write the times down afterwards with the number of
 * the exchange. So a time from another exchange is detected.
 */
#ifndef TM_APPS_EXCHANGE_H
#define TM_APPS_EXCHANGE_H

#include "bodies.h"
#include "peer.h"
#include "reading.h"

#define PAYLOAD_MAX TM_MAX_ipc_bandwidth_size
#define SERVER_NAME "ipc_server"

/* What the server does when notified. It changes its role after the exchange that requests the
 * change. */
enum role {
    ECHO,  /* answers */
    STAMP, /* reads the counters, answers */
    SEND,  /* reads the counters, answers, and answers again after writing the reading down */
    COPY,  /* copies the payload, reads the counters, answers */
    ROLES
};

struct exchange {
    /* the client's half */
    uint32_t seq;
    uint32_t role;
    uint32_t counter; /* version 1: the Perf command to read with, from the next exchange on */
    uint32_t size;    /* bytes of the payload to copy */
    uint32_t check;   /* compare the whole copy, not just its ends */
    /* the server's half */
    uint32_t seen; /* the seq of the exchange in which the reading was taken */
    struct reading at;
    uint32_t good; /* the copy is equal to the payload */
    uint32_t payload[PAYLOAD_MAX / 4];
};

#endif
