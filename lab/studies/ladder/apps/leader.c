/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The apps ladder and ladder2, eight and eight2: how long several clients of one server wait. This
 * is the first client; ladder.h describes the protocol with the other clients and the server.
 *
 * A sample is one request of any client, in the order of the answers: its wait, which is the time
 * from request to answer minus the server's work. The counter values are in a record of their own.
 */
#include "records.h"
#include "sampling.h"
#include "series.h"
#include "way.h"

#include <string.h>

#define WAITS 400 /* of NAP, for the rivals' notes */

struct served {
    uint32_t client;
    struct note note;
};
static struct served all[CLIENTS_MAX * EACH];
static uint32_t next; /* index of the next sample */

static bool ask(struct tm_run *run, enum kind kind, uint32_t size) {
    struct reading asked, answered;
    request->kind = kind;
    request->client = own_client();
    request->size = size;
    request->good = 0;
    return tm_require(run, "ask", way_ask(&asked, &answered)) && tm_verify(run, answer->good);
}

static bool begin(struct tm_run *run) {
    static bool begun;
    if (!begun)
        begun = tm_verify(run, climb_begin()) && tm_require(run, "find_server", way_find());
    return begun;
}

/* Ask the server for a client's notes and for its own counts. */
static bool collect(struct tm_run *run, uint32_t client, struct count *count) {
    request->words[0] = client;
    if (!ask(run, COLLECT, sizeof *count + EACH * sizeof(struct note)))
        return false;
    memcpy(count, answer->words, sizeof *count);
    return true;
}

/* All notes are there, and the server's counts match the clients' requests. */
static bool await(struct tm_run *run) {
    struct count count = {0};
    uint32_t waits = 0;
    do {
        if (waits++ > WAITS)
            return tm_fail(run, "rivals", "MISSING");
        if (!tm_require(run, "nap", tm_nap(NAP)) || !collect(run, 0, &count))
            return false;
    } while (count.deposited != (1U << clients()) - 1);
    for (uint32_t i = 0; i < clients(); i++)
        if (count.served[i] != EACH)
            return tm_fail(run, "served", "NOT_ASKED");
    return true;
}

/* Merge a client's notes with the notes of earlier clients, in the order of the answers. */
static void sort(uint32_t client, const struct note *notes) {
    for (uint32_t i = 0; i < EACH; i++) {
        uint32_t at = client * EACH + i;
        while (at && (int32_t)(all[at - 1].note.answered.first - notes[i].answered.first) > 0) {
            all[at] = all[at - 1];
            at--;
        }
        all[at] = (struct served){client, notes[i]};
    }
}

/* Return the cycles of a tick of the alarm. The core must not sleep meanwhile: its counter would
 * stop. */
static uint32_t tick(void) {
    static uint32_t known;
    uint32_t from = tm_alarm_now(), first = from, cycles = 0;
    while (!known && first == from)
        from = tm_alarm_now();
    struct reading begun = take_reading(0);
    while (!known && cycles < LEAD) {
        uint32_t last = tm_alarm_now(), ticks = last - from;
        while (tm_alarm_now() == last)
            ;
        cycles = take_reading(0).first - begun.first;
        if (cycles >= LEAD)
            known = (cycles + ticks / 2) / (ticks + 1);
    }
    return known;
}

/* `period` is in cycles. */
static bool take(struct tm_run *run, uint32_t period) {
    static struct note own[EACH];
    struct count count;
    const char *failed;
    struct rung rung = {.size = run->value[1], .tick = tick()};
    rung.begins = LEAD / rung.tick;
    rung.period = (period + rung.tick / 2) / rung.tick;
    if (!begin(run))
        return false;
    memcpy(request->words, &rung, sizeof rung);
    if (!ask(run, BEGIN, sizeof rung))
        return false;
    memcpy(&rung, answer->words, sizeof rung);
    if (!climb(&rung, own, &failed))
        return tm_fail(run, failed, "WRONG_RESULT");
    memcpy(request->words, own, sizeof own);
    if (!ask(run, DEPOSIT, sizeof own) || !await(run))
        return false;
    for (uint32_t i = 0; i < clients(); i++) {
        if (!collect(run, i, &count))
            return false;
        memcpy(own, answer->words + sizeof count / 4, sizeof own);
        sort(i, own);
    }
    run->samples = clients() * EACH;
    next = 0;
    return true;
}

static bool setup_closed(struct tm_run *run) { return take(run, 0); }

#ifndef TM_EIGHT
/* With this period, three clients keep the server busy about half of the time. */
static bool setup_open(struct tm_run *run) { return take(run, 9600 * (8 + run->value[1] / 40)); }
#endif

static bool sample(struct tm_run *run) {
    const struct note *note = &all[next++].note;
    run->shot.cycles =
        note->answered.first - note->asked.first - (note->done.first - note->taken.first);
    run->shot.instret =
        note->answered.second - note->asked.second - (note->done.second - note->taken.second);
    return true;
}

/* Cycles since the first request. */
static void add_times(const char *name, const struct reading *times, uint32_t from) {
    static uint32_t series[CLIENTS_MAX * EACH];
    for (uint32_t i = 0; i < clients() * EACH; i++)
        series[i] = ((const struct reading *)((const char *)times + i * sizeof *all))->first - from;
    tm_record_words(&tm_log, name);
    tm_record_series(&tm_log, series, 1, clients() * EACH);
}

static bool tell(struct tm_run *run) {
    uint32_t from = all->note.asked.first;
    if (run->failed_call)
        return false;
    for (uint32_t i = 0; i < clients() * EACH; i++)
        if ((int32_t)(all[i].note.asked.first - from) < 0)
            from = all[i].note.asked.first;
    tm_begin_record(run, "requests");
    tm_record_words(&tm_log, "client");
    tm_record_series(&tm_log, &all->client, sizeof *all / 4, clients() * EACH);
    static uint32_t due[CLIENTS_MAX * EACH];
    for (uint32_t i = 0; i < clients() * EACH; i++)
        due[i] = all[i].note.due;
    tm_record_words(&tm_log, "due");
    tm_record_series(&tm_log, due, 1, clients() * EACH);
    add_times("asked", &all->note.asked, from);
    add_times("taken", &all->note.taken, from);
    add_times("done", &all->note.done, from);
    add_times("answered", &all->note.answered, from);
    add_times("ready", &all->note.ready, from);
    tm_record_end(&tm_log);
    return true;
}

#define BENCH(row, set)                                                                            \
    TM_BENCH(row, .all_samples = true, .setup = set, .sample = sample, .finish = tell)
#if defined TM_EIGHT && defined TM_RELAY
BENCH(eight2_closed, setup_closed);
TM_APP(eight2);
#elif defined TM_EIGHT
BENCH(eight_closed, setup_closed);
TM_APP(eight);
#elif defined TM_RELAY
BENCH(ladder2_closed, setup_closed);
BENCH(ladder2_open, setup_open);
TM_APP(ladder2);
#else
BENCH(ladder_closed, setup_closed);
BENCH(ladder_open, setup_open);
TM_APP(ladder);
#endif
