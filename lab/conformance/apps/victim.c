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

#if TM_ABI != 1
enum { CRYPTO = 0x90020 };
static uint32_t attacker_id = NOBODY; /* it accepts requests */
#endif

/* All upcalls that report on an app's own calls; the kernel has the same list. */
static const struct {
    uint32_t driver, number;
} own_upcalls[] = {
    {ALARM, 0},     {CONSOLE, 1},   {CONSOLE, 2},    {PERF, 0},
#if TM_ABI != 1
    {BY_STRING, 0}, {BY_STRING, 1}, {BY_PACKAGE, 0}, {BY_PACKAGE, 1}, {RELAY, 0}, {CRYPTO, 0},
#endif
};
enum { OWN_UPCALLS = sizeof own_upcalls / sizeof *own_upcalls };

static volatile uint32_t came; /* bit N: the upcall own_upcalls[N] */

static void on_own(uint32_t first, uint32_t second, uint32_t third, uint32_t userdata) {
    (void)first, (void)second, (void)third;
#if TM_ABI != 1
    if (own_upcalls[userdata].driver == BY_PACKAGE && own_upcalls[userdata].number == 1)
        attacker_id = first ? NOBODY : second;
#endif
    came |= 1u << userdata;
}

static void subscribe_all(void) {
    for (uint32_t i = 0; i < OWN_UPCALLS; i++)
        subscribe(own_upcalls[i].driver, own_upcalls[i].number, on_own, i);
    static char input[LINE];
    allow_rw(CONSOLE, TM_ABI == 1 ? 2 : 1, input, sizeof input);
#if TM_ABI != 1
    static const char string[20] = "a string of 20 bytes", package[] = "attacker";
    static uint32_t job[32]; /* of crypto, without a task */
    allow_ro(BY_STRING, 0, string, sizeof string);
    allow_ro(BY_PACKAGE, 0, package, sizeof package - 1);
    allow_rw(CRYPTO, 0, job, sizeof job);
#endif
}

/* Makes the call that this upcall reports on. */
static struct answer start(uint32_t driver, uint32_t number) {
    if (driver == CONSOLE && number == 2) { /* no byte comes, so the read ends by being cancelled */
        struct answer read = command(CONSOLE, 2, LINE, 0);
        return refused(read) ? read : command(CONSOLE, 3, 0, 0);
    }
    switch (driver) {
    case ALARM:
        return command(ALARM, 5, 0, 0);
    case PERF:
        return command(PERF, 8, 0, 0);
#if TM_ABI != 1
    case BY_STRING:
    case BY_PACKAGE:
        return command(driver, number + 1, 0, 0);
    case RELAY:;
        struct answer sent = command(RELAY, SEND_REQUEST, attacker_id, 0);
        return refused(sent) ? sent : command(RELAY, CANCEL_REQUEST, 0, 0);
#endif
    default:
        (void)number;
        return command(driver, 1, 1, 0);
    }
}

/* All its upcalls come while it computes. They must be there when it yields. NODEVICE: this kernel
 * has no such driver, or there is no attacker. */
static void let_upcalls_wait(void) {
    uint32_t due = 0;
    came = 0;
    spin(microseconds(WORK)); /* the attackers fill the queue as far as they can */
    for (uint32_t i = 0; i < OWN_UPCALLS; i++) {
        struct answer answer = start(own_upcalls[i].driver, own_upcalls[i].number);
        if (!refused(answer) || error_of(answer) != NODEVICE)
            due |= 1u << i;
    }
    while (due & ~came)
        yield();
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
#if TM_ABI != 1
    command(RELAY, ACCEPT_REQUESTS, 0, 0);
    command(BY_PACKAGE, 1, 0, 0); /* the attackers find it and send requests */
#endif
    if (work == UPCALLS)
        subscribe_all();
    uint32_t done = work == ANSWERS ? ask_service() : repeat(works[work].unit);
    say("work", works[work].name, NUMBER("done", done), NUMBER("scene", app_scene));
    finish();
}
