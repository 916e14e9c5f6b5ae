/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The app waiter: gets two upcalls in each round (pairs.h). Each must come once, with its own
 * words. The app ends at the first wrong round and reports the error. The mark at a round's start
 * shows a round that never ends.
 */
#include "pairs.h"
#include "peers.h"

const struct identity identity = {"waiter", 1, 0};

enum { LENGTH = 8 }; /* bytes of a write */
static const char text[LENGTH + 1] = ".......\n";

static struct plan plan __attribute__((aligned(8)));
static uint32_t round_now, senders[EVENTS];
static volatile struct {
    uint32_t count;
    struct answer last;
} ran[EVENTS];
static volatile uint32_t all_ran;
static uint32_t together; /* rounds in which both were there before the waiter ran */

static void on_event(uint32_t first, uint32_t second, uint32_t third, uint32_t event) {
    all_ran++;
    ran[event].count++;
    ran[event].last.a0 = first;
    ran[event].last.a1 = second;
    ran[event].last.a2 = third;
}

static _Noreturn void wrong(const char *what, uint32_t event) {
    say("wrong", what, NUMBER("round", round_now), NUMBER("event", event));
    finish();
}

/* Waits for one upcall, and checks that it is the expected one, if there is one. */
static void wait_for_any(uint32_t event) {
    uint32_t before = all_ran;
    yield();
    if (all_ran == before)
        wrong("early", event);
    if (all_ran != before + 1)
        wrong("twice", event);
}

static void sleep_until(uint32_t past, uint32_t moment) {
    uint32_t before = ran[BY_ALARM].count;
    set_alarm(past, moment);
    wait_for_any(BY_ALARM);
    if (ran[BY_ALARM].count == before || ran[BY_ALARM].last.a1 != moment)
        wrong("left-over", EVENTS);
}

static void check_words(uint32_t event, struct answer got) {
    uint32_t due = start_of(plan.start, round_now) + pair_event_ticks;
    bool good = false;
    if (event == BY_ALARM) {
        good = got.a1 == due && got.a0 - due < pair_round_ticks;
    } else if (event == BY_CONSOLE) {
        good = got.a0 == LENGTH;
    } else if (got.a0 == senders[event] && got.a1 == sizeof(struct sent)) {
        volatile const struct sent *sent = (volatile const struct sent *)got.a2;
        good = sent->round == round_now && sent->sender == event - BY_FIRST;
    }
    if (!good)
        wrong("words", event);
}

static void check_ran(uint32_t event) {
    if (ran[event].count != 1)
        wrong(ran[event].count ? "twice" : "other", event);
    struct answer got = {ran[event].last.a0, ran[event].last.a1, ran[event].last.a2, 0};
    check_words(event, got);
}

static void wait_for_both(void) {
    for (uint32_t count = 0; count < 2; count++)
        wait_for_any(EVENTS);
    check_ran(steady_event());
    check_ran(moving_event());
}

#if TM_ABI != 1
static void take(uint32_t event) {
    uint32_t driver = event == BY_ALARM ? ALARM : event == BY_CONSOLE ? CONSOLE : IPC;
    uint32_t number = event == BY_CONSOLE ? 1 : 0;
    if (driver == IPC)
        number = event == BY_FIRST ? app_slot : senders[BY_SECOND];
    struct answer got = call(YIELD, WAIT_FOR, driver, number, 0);
    if (ran[event].count)
        wrong("ran", event);
    check_words(event, got);
}

/* Takes the other upcall by its function in one round and, if the kernel has it, by a second wait
 * in the next. */
static void wait_for_one(uint32_t awaited) {
    uint32_t other = awaited == steady_event() ? moving_event() : steady_event();
    take(awaited);
    if (ran[other].count)
        wrong("ran", other);
    if (round_now % 2 && other < BY_FIRST) {
        take(other);
    } else {
        if (poll())
            together++;
        else
            wait_for_any(other);
        check_ran(other);
    }
}
#else
static void wait_for_one(uint32_t awaited) { (void)awaited; }
#endif

static void write_after(uint32_t cycles) {
    uint32_t words[] = COMMAND_WORDS(CONSOLE, 1, LENGTH, 0);
    call_after(words, cycles);
}

/* Sends the plan to the senders. */
static void begin(void) {
    static const char *const names[] = {[BY_FIRST] = "sender", [BY_SECOND] = "sender2"};
    subscribe(ALARM, 0, on_event, BY_ALARM);
    if (has_event(BY_CONSOLE)) {
        static char written[LENGTH];
        for (uint32_t i = 0; i < LENGTH; i++)
            written[i] = text[i];
        allow_ro(CONSOLE, 1, written, LENGTH);
        subscribe(CONSOLE, 1, on_event, BY_CONSOLE);
    }
    for (uint32_t event = BY_FIRST; event < BY_FIRST + app_slot; event++) {
        senders[event] = find_process(names[event]);
        if (senders[event] == NOBODY) {
            say("skipped", "no-ipc", NONE, NONE);
            finish();
        }
    }
    be_service(on_event, BY_FIRST);
    if (has_event(BY_SECOND))
        subscribe(IPC, senders[BY_SECOND], on_event, BY_SECOND);
    plan.start = now() + 2 * pair_round_ticks;
    plan.round = UINT32_MAX;
    for (uint32_t event = BY_FIRST; event < BY_FIRST + app_slot; event++) {
        share(senders[event], &plan, sizeof plan);
        notify_service(senders[event]);
    }
}

void run(void) {
    begin();
    sleep_until(now(), plan.start);
    for (round_now = pair_first; round_now < pair_rounds; round_now++) {
        uint32_t start = start_of(plan.start, round_now);
        begin_round();
        plan.round = round_now;
        for (uint32_t event = 0; event < EVENTS; event++)
            ran[event].count = 0;
        if (has_event(BY_ALARM))
            set_alarm(start, start + pair_event_ticks);
        if (has_event(BY_CONSOLE))
            write_after(moving_event() == BY_CONSOLE ? delay_of(round_now) : pair_write);
        if (awaited_event() == EVENTS)
            wait_for_both();
        else
            wait_for_one(awaited_event());
        sleep_until(start, start + pair_round_ticks);
    }
    say("pairs", "done", NUMBER("rounds", pair_rounds), NUMBER("together", together));
    finish();
}
