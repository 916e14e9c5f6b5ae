/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The app victim: does one type of work until the time is over, and reports how much it has done.
 * It shares with the attackers only what the work needs.
 */
#include "availability.h"
#include "peers.h"

const struct identity identity = {"victim", 1, 0};

enum { LINE = 64, PERIOD = 800, WORK = 300 /* µs */ };

static uint32_t microseconds(uint32_t count) { return milliseconds(count) / 1000; }

static char line[LINE]; /* version 1 writes from RAM only */

static void wait_for(uint32_t upcalls) {
    while (seen.count < upcalls)
        yield();
}

/* Writes a line and waits for its upcall. */
static void write_line(void) {
    forget_upcalls();
    subscribe(CONSOLE, 1, note_upcall, 0);
    command(CONSOLE, 1, LINE, 0);
    wait_for(1);
}

static void print(void) { command(DEBUG, 3, LINE, LINE); }

static void compute(void) {
    for (volatile uint32_t i = 0; i < 100; i++)
        ;
}

static void sleep(void) {
    forget_upcalls();
    subscribe(ALARM, 0, note_upcall, 0);
    command(ALARM, 5, microseconds(PERIOD), 0);
    wait_for(1);
}

/* Upcalls of its own come while it computes. All of them must be there when it yields. */
static void let_upcalls_wait(void) {
    forget_upcalls();
    subscribe(ALARM, 0, note_upcall, 0);
    subscribe(CONSOLE, 1, note_upcall, 0);
    subscribe(PERF, 0, note_upcall, 0);
    spin(microseconds(WORK)); /* the attackers fill the queue as far as they can */
    command(ALARM, 5, 0, 0);
    command(CONSOLE, 1, 1, 0);
    command(PERF, 8, 0, 0);
    spin(microseconds(WORK));
    wait_for(3);
}

static volatile uint32_t answers;

static void on_answer(uint32_t first, uint32_t second, uint32_t third, uint32_t userdata) {
    (void)first, (void)second, (void)third, (void)userdata;
    answers++;
}

/* Asks a service, which others also use, every 800 microseconds. */
static uint32_t ask_service(void) {
    uint32_t service = find_process("service");
    subscribe(IPC, service, on_answer, 0);
    while (!is_over()) {
        notify_service(service);
        forget_upcalls();
        subscribe(ALARM, 0, note_upcall, 0);
        command(ALARM, 5, microseconds(PERIOD), 0);
        wait_for(1);
    }
    return answers;
}

static uint32_t repeat(void (*unit)(void)) {
    uint32_t done = 0;
    for (;;) {
        unit();
        if (is_over())
            return done;
        done++;
    }
}

void run(void) {
    static const struct {
        const char *name;
        void (*unit)(void);
    } works[WORKS] = {
        [LINES] = {"lines", write_line}, [PRINTS] = {"prints", print},
        [ANSWERS] = {"answers", 0},      [SUMS] = {"sums", compute},
        [ALARMS] = {"alarms", sleep},    [UPCALLS] = {"upcalls", let_upcalls_wait},
    };
    for (uint32_t i = 0; i < LINE; i++)
        line[i] = i == LINE - 1 ? '\n' : '.';
    line[0] = the_work() == UPCALLS ? '\n' : '.';
    allow_ro(CONSOLE, 1, line, LINE);
    uint32_t work = the_work();
    uint32_t done = work == ANSWERS ? ask_service() : repeat(works[work].unit);
    say("work", works[work].name, NUMBER("done", done), NUMBER("scene", app_scene));
    finish();
}
