/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The study's operations as an app on a kernel. Next to it run cost_peer.c, whose answers it
 * checks, and an app that computes. ../firmware has the same operations without a kernel.
 */
#include "alarm_mark.h"
#include "bodies.h"
#include "message.h"
#include "reading.h"
#include "runtimes_rows.h"

#include <string.h>

#define ALARM_STOP 3 /* a command of the alarm */

/* The measured time has passed before this app runs. */
static bool sample_start(struct tm_run *run) {
    (void)run;
    return true;
}

static bool setup_interrupt(struct tm_run *run) {
    return tm_skip(run, "no handler of an app runs before its process does: cost.alarm");
}

static struct message shared;
static uint32_t server, sample;
static volatile uint32_t answers;

static void on_answer(uint32_t service, uint32_t length, uint32_t address, void *userdata) {
    (void)service, (void)length, (void)address, (void)userdata;
    answers++;
}

/* Connect, once, when the server has had time to register. */
static bool setup_round(struct tm_run *run) {
    static bool connected;
    if (connected)
        return true;
    struct tock_return peer = tm_peer_find("cost_peer", 1);
    server = peer.word[0];
    connected = tm_require(run, "ipc_discover", peer) &&
                tm_require(run, "ipc_subscribe", tm_ipc_listen(server, on_answer)) &&
                tm_require(run, "ipc_share", tm_ipc_share(server, &shared, sizeof shared));
    return connected;
}

/* Send words, and wait for the answer. */
static bool take_round(struct tm_run *run, const uint32_t *words, uint32_t size) {
    answers = 0;
    struct reading from = take_reading(0);
    shared.size = size;
    memcpy(shared.words, words, size);
    struct tock_return notified = tm_ipc_notify_service(server);
    while (!answers)
        tock_yield_wait();
    uint32_t answer = shared.answer;
    struct reading to = take_reading(0);
    put_sample(run, from, to);
    return tm_require(run, "ipc_notify", notified) &&
           tm_verify(run, answer == answer_to(words, size));
}

static bool sample_switch(struct tm_run *run) {
    sample++;
    return take_round(run, &sample, sizeof sample);
}

static bool sample_message(struct tm_run *run) {
    static uint32_t words[WORDS_MAX];
    uint32_t count = run->value[0] / 4;
    sample++;
    for (uint32_t i = 0; i < count; i++)
        words[i] = sample;
    words[count - 1] = sample * 0x9e3779b9;
    return take_round(run, words, run->value[0]);
}

static uint32_t second; /* in ticks */

static bool setup_timer(struct tm_run *run) {
    struct tock_return frequency = tm_alarm_frequency();
    second = frequency.word[0];
    return tm_require(run, "alarm_frequency", frequency);
}

static bool sample_timer(struct tm_run *run) {
    struct reading from = take_reading(0);
    struct tock_return set = tm_alarm_after(second);
    struct tock_return stopped = tock_command(TOCK_ALARM, ALARM_STOP, 0, 0);
    struct reading to = take_reading(0);
    put_sample(run, from, to);
    return tm_require(run, "alarm_set", set) && tm_require(run, "alarm_stop", stopped);
}

static struct tm_write write = {0, 64};

static bool setup_line(struct tm_run *run) {
    return tm_require(
        run, "subscribe",
        tock_subscribe(TOCK_CONSOLE, TOCK_CONSOLE_WRITE, tm_upcall_count, &write.upcalls));
}

/* Readers of the protocol ignore the line. */
static bool sample_line(struct tm_run *run) {
    static char text[64];
    memset(text, ' ', sizeof text - 1);
    text[sizeof text - 1] = '\n';
    struct reading from = take_reading(0);
    struct tock_return given = tock_allow_ro(TOCK_CONSOLE, TOCK_CONSOLE_WRITE, text, sizeof text);
    uint32_t upcalls = tm_console_write_and_wait(&write);
    struct reading to = take_reading(0);
    put_sample(run, from, to);
    return tm_require(run, "allow_ro", given) && tm_verify(run, upcalls == 1);
}

static bool finish_line(struct tm_run *run) {
    return tm_require(run, "allow_ro", tock_allow_ro(TOCK_CONSOLE, TOCK_CONSOLE_WRITE, 0, 0)) &&
           tm_require(run, "subscribe", tock_subscribe(TOCK_CONSOLE, TOCK_CONSOLE_WRITE, 0, 0));
}

TM_BENCH(cost_start, .from = "reset", .to = "start", .sample = sample_start);
TM_BENCH(cost_interrupt, .from = "irq", .to = "upcall", .setup = setup_interrupt,
         .sample = sample_start);
TM_BENCH(cost_alarm, .from = "irq", .to = "upcall", .setup = alarm_setup, .sample = alarm_sample,
         .finish = alarm_finish);
TM_BENCH(cost_switch, .setup = setup_round, .sample = sample_switch);
TM_BENCH(cost_message, .setup = setup_round, .sample = sample_message);
TM_BENCH(cost_timer, .setup = setup_timer, .sample = sample_timer);
TM_BENCH(cost_line, .setup = setup_line, .sample = sample_line, .finish = finish_line);
TM_APP(cost);
