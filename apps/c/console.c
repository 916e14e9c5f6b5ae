/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The app console: the cost of a console write, up to its completion upcall, and of a read. It
 * writes blanks and a newline, which readers of the protocol treat as an empty message.
 */
#include "input.h"

static struct tm_write write;
static char text[TM_MAX_console_write_size];

static bool setup(struct tm_run *run) {
    write = (struct tm_write){0, run->value[0]};
    for (uint32_t i = 0; i < write.length; i++)
        text[i] = i + 1 < write.length ? ' ' : '\n';
    run->shot.arg = &write;
    return tm_require(
        run, "subscribe",
        tock_subscribe(TOCK_CONSOLE, TOCK_CONSOLE_WRITE, tm_upcall_count, &write.upcalls));
}

/* In version 1 a console may keep a buffer for one write only. */
static bool before(struct tm_run *run) {
    return tm_require(run, "allow_ro",
                      tock_allow_ro(TOCK_CONSOLE, TOCK_CONSOLE_WRITE, text, write.length));
}

static bool finish(struct tm_run *run) {
    return tm_require(run, "allow_ro", tock_allow_ro(TOCK_CONSOLE, TOCK_CONSOLE_WRITE, 0, 0)) &&
           tm_require(run, "subscribe", tock_subscribe(TOCK_CONSOLE, TOCK_CONSOLE_WRITE, 0, 0));
}

static bool before_read(struct tm_run *run) {
    ask_for_input(run->value[0], 0);
    return true;
}

static bool sample_read(struct tm_run *run) {
    input.counter = counter_of(run);
    struct reading begun = take_reading(input.counter);
    if (!tm_require(run, "read", start_read(run->value[0])))
        return false;
    while (!input.over)
        tock_yield_wait();
    put_sample(run, begun, input.ended);
    return came(run, 0, run->value[0]);
}

TM_BENCH(console_write, .body = tm_console_write_and_wait, .expect = 1, .setup = setup,
         .before = before, .finish = finish);
TM_BENCH(console_read, .setup = input_setup, .before = before_read, .sample = sample_read,
         .finish = input_finish);
TM_APP(console);
