/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The server of the group ipc2 (orders.h). The sender of the first request gives the orders; rivals
 * wait, and are served only in a contest. Prints nothing, runs for ever.
 */
#include "bench.h"
#include "peer.h"

#if TM_ABI == 2
#include "orders.h"

static uint32_t got[WORDS_MAX]; /* the current request */
static struct note note;
static enum task task = ECHO;
static bool checks;
static bool has_rivals, has_master;
static struct tm_process master;

/* Sleep until the master, who gives the orders, has a request, and take it. */
static struct tock_return take_next(void) {
    struct tm_process client;
    do
        client = tm_relay_request();
    while (has_rivals && has_master && client.low != master.low);
    if (!has_master)
        master = client;
    has_master = true;
    return has_rivals ? tm_relay_take_of(master) : tm_relay_take();
}

/* Respond to everybody, and measure from one response to the client `of` to its `answers` next
 * ones. */
static void contest(uint32_t of, uint32_t answers) {
    static struct score score;
    uint32_t counts = of == WHO_ORDERS ? master.low : of, own = 0, others = 0;
    while (own <= answers && others < STARVED) {
        tm_relay_request();
        struct tock_return taken = tm_relay_take();
        if (tock_failed(taken))
            continue;
        tm_relay_respond();
        if (taken.word[1] != counts)
            others++;
        else if (own++ == 0)
            score.from = take_reading(0);
    }
    score.to = take_reading(0);
    score.enough = own > answers;
    /* The response that ends the contest: the master's request is there, or will come. */
    tm_relay_out(&score, sizeof score);
    while (tock_failed(tm_relay_take_of(master)))
        tm_relay_request();
    tm_relay_respond();
}

/* Carry out the request if it is an order, and return whether it was. */
static bool obey(uint32_t length) {
    static const uint32_t obeyed = OBEYED;
    const struct order *given = (const void *)got;
    if (length != sizeof *given || given->mark != ORDER_MARK)
        return false;
    struct order order = *given;
    tm_relay_out(&obeyed, sizeof obeyed);
    tm_relay_respond();
    task = order.task == STAMP ? STAMP : ECHO;
    checks = order.check;
    if (order.task == CONTEST) {
        tm_relay_out(0, 0);
        contest(order.of, order.answers);
    } else if (task == STAMP) {
        tm_relay_out(&note, sizeof note);
    } else {
        tm_relay_out(got, order.size);
    }
    return true;
}

static void echo(void) {
    struct tock_return taken = take_next();
    if (!tock_failed(taken) && !obey(taken.word[0]))
        tm_relay_respond();
}

static void stamp(void) {
    struct tock_return taken = take_next();
    struct reading at = take_reading(0);
    if (tock_failed(taken) || obey(taken.word[0]))
        return;
    note.at = at;
    note.length = taken.word[0];
    note.sum = sum_of(got, taken.word[0] / 4, checks);
    tm_relay_respond();
}

static struct tock_return start(void) {
    has_rivals = tm_link.slots > 2;
    struct tock_return done[] = {
        tm_registry_name(TOCK_BY_STRING, SERVER_STRING, sizeof SERVER_STRING - 1),
        tm_registry_asked(TOCK_BY_STRING, TOCK_REGISTER),
        tm_registry_asked(TOCK_BY_PACKAGE, TOCK_REGISTER),
        tm_relay_in(got, sizeof got),
        tm_relay_enable(),
    };
    uint32_t i = 0;
    while (i < sizeof done / sizeof *done - 1 && !tock_failed(done[i]))
        i++;
    return done[i];
}

int main(void) {
    struct tock_return started = start();
    if (tock_failed(started))
        return (int)started.word[0];
    for (;;)
        task == STAMP ? stamp() : echo();
}
#else
int main(void) { tm_peer_rest(); }
#endif
