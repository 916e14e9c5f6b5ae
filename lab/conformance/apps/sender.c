/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The app sender: in each round its own alarm wakes it, and it notifies the app waiter. The first
 * sender does so after a delay that grows from round to round, and may then keep the core; if it
 * has no event, it only keeps the core. The second sender notifies at once.
 */
#include "pairs.h"
#include "peers.h"

const struct identity identity = {"sender", 1, "sender2"};

static volatile const struct plan *plan;
static volatile uint32_t alarms, waiter;
static volatile struct sent sent __attribute__((aligned(8)));

static void on_plan(uint32_t from, uint32_t length, uint32_t address, uint32_t userdata) {
    (void)length, (void)userdata;
    waiter = from;
    plan = (volatile const struct plan *)address;
}

static void on_alarm(uint32_t first, uint32_t second, uint32_t third, uint32_t userdata) {
    (void)first, (void)second, (void)third, (void)userdata;
    alarms++;
}

static void notify(bool is_first, uint32_t delay) {
    uint32_t as_service[] = NOTIFY_SERVICE(waiter), as_client[] = NOTIFY_CLIENT(waiter);
    call_after(is_first ? as_service : as_client, delay);
}

void run(void) {
    bool is_first = app_slot == 0, sends = has_event(is_first ? BY_FIRST : BY_SECOND);
    uint32_t early = is_first ? pair_lead_ticks : 0;
    be_service(on_plan, 0);
    subscribe(ALARM, 0, on_alarm, 0);
    while (!plan)
        yield();
    share(waiter, &sent, sizeof sent);
    sent.sender = app_slot;
    uint32_t past = now();
    for (uint32_t round = pair_first;; round++) {
        uint32_t before = alarms, moment = start_of(plan->start, round) + pair_event_ticks - early;
        set_alarm(past, moment);
        past = moment;
        while (alarms == before)
            yield();
        if (plan->round != round) /* the waiter has ended, or waits for ever */
            break;
        sent.round = round;
        uint32_t delay = is_first ? delay_of(round) : 0;
        if (sends)
            notify(is_first, delay);
        if (is_first && is_held()) {
            uint32_t nothing[] = COMMAND_WORDS(ABSENT, 0, 0, 0), waited = sends ? delay : 0;
            call_after(nothing, waited < pair_hold ? pair_hold - waited : 0);
        }
    }
    for (;;) /* Tock drops a notification whose sender has ended */
        yield();
}
