/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* A further client next to the leader (ladder.h). It prints nothing and runs for ever. */
#include "way.h"

#include <string.h>

static struct note notes[EACH];

static bool ask(enum kind kind, uint32_t size) {
    struct reading asked, answered;
    request->kind = kind;
    request->client = own_client();
    request->size = size;
    request->good = 0;
    return !tock_failed(way_ask(&asked, &answered)) && answer->good;
}

/* Sleep until there is a new rung. */
static bool join(struct rung *rung) {
    uint32_t last = rung->number;
    while (rung->number == last) {
        if (tock_failed(tm_nap(NAP)) || !ask(JOIN, sizeof *rung))
            return false;
        memcpy(rung, answer->words, sizeof *rung);
    }
    return true;
}

/* Missing notes show the leader that something failed. */
static bool deposit(void) {
    memcpy(request->words, notes, sizeof notes);
    return ask(DEPOSIT, sizeof notes);
}

int main(void) {
    static struct rung rung;
    const char *failed;
    tm_nap(TM_PEER_START_MS);
    if (!climb_begin() || tock_failed(way_find()))
        return 1;
    while (join(&rung) && climb(&rung, notes, &failed) && deposit())
        ;
    return 1;
}
