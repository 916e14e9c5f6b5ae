/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The app awake: how long the core is awake for one event, from the first instruction of an upcall
 * to that of the next one, with sleep between them. Ibex's counters stop while it sleeps, so their
 * difference is the time awake. The events are an alarm, a received byte, and an alarm whose upcall
 * asks a service (ipc_server.c).
 */
#include "exchange.h"
#include "input.h"

enum { BETWEEN = 12000, MS = 1 }; /* cycles between two bytes; milliseconds between two requests */

static struct {
    volatile bool rang;
    struct reading at;
    uint32_t per_ms; /* ticks */
} alarm;

static void on_alarm(uint32_t now, uint32_t due, uint32_t zero, void *userdata) {
    alarm.at = take_reading(input.counter);
    (void)now, (void)due, (void)zero, (void)userdata;
    alarm.rang = true;
}

static bool set_alarm(struct tm_run *run, uint32_t ticks) {
    alarm.rang = false;
    return tm_require(run, "alarm_set", tm_alarm_after(ticks));
}

static void sleep_until(volatile bool *over) {
    while (!*over)
        tock_yield_wait();
}

/* Sleep until an alarm. A sample begins with its upcall. */
static bool begin(struct tm_run *run, struct reading *begun) {
    input.counter = counter_of(run);
    if (!set_alarm(run, alarm.per_ms / 4 + 1))
        return false;
    sleep_until(&alarm.rang);
    *begun = alarm.at;
    return true;
}

static bool setup_alarm(struct tm_run *run) {
    struct tock_return frequency = tm_alarm_frequency();
    alarm.per_ms = frequency.word[0] / 1000;
    return tm_require(run, "alarm_frequency", frequency) &&
           tm_require(run, "alarm_subscribe", tm_alarm_subscribe(on_alarm, 0));
}

static bool sample_alarm(struct tm_run *run) {
    struct reading begun;
    if (!begin(run, &begun) || !set_alarm(run, alarm.per_ms * run->value[0]))
        return false;
    sleep_until(&alarm.rang);
    put_sample(run, begun, alarm.at);
    return true;
}

static bool finish_alarm(struct tm_run *run) {
    return tm_require(run, "alarm_unsubscribe", tm_alarm_subscribe(0, 0));
}

static bool before_receive(struct tm_run *run) {
    (void)run;
    ask_for_input(2, BETWEEN);
    return true;
}

static bool sample_receive(struct tm_run *run) {
    input.counter = counter_of(run);
    if (!tm_require(run, "read", start_read(1)))
        return false;
    sleep_until(&input.over);
    struct reading begun = input.ended;
    if (!came(run, 0, 1) || !tm_require(run, "read", start_read(1)))
        return false;
    sleep_until(&input.over);
    put_sample(run, begun, input.ended);
    return came(run, 1, 1);
}

static struct exchange shared; /* its role stays ECHO */
static uint32_t server;
static volatile bool answered;

static void on_answer(uint32_t service, uint32_t length, uint32_t address, void *userdata) {
    (void)service, (void)length, (void)address, (void)userdata;
    answered = true;
}

static bool setup_ipc(struct tm_run *run) {
    struct tock_return peer = tm_peer_find(SERVER_NAME, 1);
    if (!tm_require(run, "ipc_discover", peer))
        return false;
    server = peer.word[0];
    return tm_require(run, "ipc_subscribe", tm_ipc_listen(server, on_answer)) &&
           tm_require(run, "ipc_share", tm_ipc_share(server, &shared, sizeof shared)) &&
           setup_alarm(run);
}

static bool sample_ipc(struct tm_run *run) {
    struct reading begun;
    if (!begin(run, &begun))
        return false;
    answered = false;
    if (!set_alarm(run, alarm.per_ms * MS) ||
        !tm_require(run, "ipc_notify", tm_ipc_notify_service(server)))
        return false;
    sleep_until(&answered);
    sleep_until(&alarm.rang);
    put_sample(run, begun, alarm.at);
    return true;
}

TM_BENCH(awake_alarm, .setup = setup_alarm, .sample = sample_alarm, .finish = finish_alarm);
TM_BENCH(awake_receive, .setup = input_setup, .before = before_receive, .sample = sample_receive,
         .finish = input_finish);
TM_BENCH(awake_ipc, .setup = setup_ipc, .sample = sample_ipc, .finish = finish_alarm);
TM_APP(awake);
