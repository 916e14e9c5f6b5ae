/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The protocol between the apps waiter and sender. In each round the waiter gets two upcalls: one
 * `event_ticks` after the round's start, the other one a little before or after that, `step` cycles
 * later in each round.
 */
#ifndef CONFORMANCE_PAIRS_H
#define CONFORMANCE_PAIRS_H

#include "report.h"

/* An event is the waiter's alarm, the end of its write, a notification from the first sender as a
 * service, or one from the second sender as a client. The first sender's event moves from round to
 * round, the second's does not. */
enum { BY_ALARM, BY_CONSOLE, BY_FIRST, BY_SECOND, EVENTS };

/* The scene, from lab/tockmark_lab/interleavings.py: the two events, which of them the waiter
 * awaits by yield-wait-for (EVENTS: it waits for any), and whether the first sender keeps the core
 * until both have occurred. */
static inline uint32_t steady_event(void) { return app_scene & 0xf; }
static inline uint32_t moving_event(void) { return app_scene >> 4 & 0xf; }
static inline uint32_t awaited_event(void) { return app_scene >> 8 & 0xf; }
static inline bool is_held(void) { return app_scene >> 12 & 1; }
static inline bool has_event(uint32_t event) {
    return steady_event() == event || moving_event() == event;
}

/* pairs.S, values from the link: the first round, and the last one plus 1; the moving event's delay
 * in cycles in round 0, and its increase per round; the delay of a steady write; how long the core
 * is held; ticks of the alarm from round to round, from a round's start to its steady event, and
 * from the first sender's wake-up to that event. */
extern const uint32_t pair_first, pair_rounds, pair_step, pair_spin, pair_write, pair_hold,
    pair_round_ticks, pair_event_ticks, pair_lead_ticks;

static inline uint32_t delay_of(uint32_t round) { return pair_spin + round * pair_step; }

void call_after(uint32_t words[5], uint32_t cycles);
void begin_round(void);

/* What the waiter shares with the senders: the start of the first round, and the current round. */
struct plan {
    uint32_t start, round;
};

/* What a sender shares with the waiter. */
struct sent {
    uint32_t round, sender;
};

static inline uint32_t start_of(uint32_t start, uint32_t round) {
    return start + (round - pair_first) * pair_round_ticks;
}

/* Sets an alarm, relative to a time in the past. */
static inline void set_alarm(uint32_t past, uint32_t moment) {
    command(ALARM, 6, past, moment - past);
}

#if TM_ABI == 1
#define COMMAND_WORDS(driver, number, first, second)                                               \
    { COMMAND, driver, number, first, second }
#define NOTIFY_SERVICE(process) COMMAND_WORDS(IPC, process, 0, 0)
#define NOTIFY_CLIENT(process) COMMAND_WORDS(IPC, process, 1, 0)
#else
#define COMMAND_WORDS(driver, number, first, second)                                               \
    { driver, number, first, second, COMMAND }
#define NOTIFY_SERVICE(process) COMMAND_WORDS(IPC, 2, process, 0)
#define NOTIFY_CLIENT(process) COMMAND_WORDS(IPC, 3, process, 0)
#endif

#endif
