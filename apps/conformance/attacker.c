/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The app attacker: takes as much as it can of one thing that all share, until the time is over.
 * Two of them may run. What it writes is empty lines, so that nothing of the victim's is torn.
 */
#include "availability.h"
#include "peers.h"

const struct identity identity = {"attacker", 1, 0};

static char lines[1024]; /* version 1 writes from RAM only */

/* Without a look at whether the last write has ended. */
static void write(void) {
    allow_ro(CONSOLE, 1, lines, sizeof lines);
    command(CONSOLE, 1, sizeof lines, 0);
}

/* Starts a write and takes its buffer back before it is its turn, which passes while it computes;
 * then it ends, and begins again. */
static void take_back_buffer(void) {
    allow_ro(CONSOLE, 1, lines, 4);
    command(CONSOLE, 1, 4, 0);
    allow_ro(CONSOLE, 1, 0, 0);
    spin(milliseconds(6)); /* longer than a line of the victim's takes */
#if TM_ABI != 1
    call(EXIT, RESTART, 0, 0, 0);
#endif
}

static void print(void) { command(DEBUG, 3, 0xffffffff, 0xffffffff); }

static uint32_t targets[2];

static void notify(void) {
    for (uint32_t i = 0; i < 2; i++) {
        notify_service(targets[i]);
        notify_client(targets[i]);
    }
}

static void compute(void) {}

/* An alarm that is due at once, without end. */
static void set_alarms(void) { command(ALARM, 5, 0, 0); }

void run(void) {
    static void (*const attacks[ATTACKS])(void) = {
        [NO_ATTACK] = compute,     [WRITE] = write,   [TAKE_BACK_BUFFER] = take_back_buffer,
        [PRINT] = print,           [NOTIFY] = notify, [COMPUTE] = compute,
        [SET_ALARMS] = set_alarms,
    };
    for (uint32_t i = 0; i < sizeof lines; i++)
        lines[i] = '\n';
    targets[0] = find_process("victim");
    targets[1] = find_process("service");
    while (!is_over())
        attacks[the_attack()]();
    end_app();
}
