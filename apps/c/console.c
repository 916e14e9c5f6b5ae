/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The app console: what a console write costs, to its completion upcall. What it writes are blanks
 * and the end of a line, which no reader of the protocol takes for more than an empty message.
 */
#include "bench.h"

#define WRITE_MAX 64

static struct tm_write write;
static char text[WRITE_MAX];

static bool setup(struct tm_run *run) {
    write = (struct tm_write){0, run->value[0]};
    for (uint32_t i = 0; i < write.length; i++)
        text[i] = i + 1 < write.length ? ' ' : '\n';
    run->shot.arg = &write;
    return tm_require(
        run, "subscribe",
        tock_subscribe(TOCK_CONSOLE, TOCK_CONSOLE_WRITE, tm_upcall_count, &write.upcalls));
}

/* On version 1 a console may keep a buffer for one write only. */
static bool before(struct tm_run *run) {
    return tm_require(run, "allow_ro",
                      tock_allow_ro(TOCK_CONSOLE, TOCK_CONSOLE_WRITE, text, write.length));
}

static bool finish(struct tm_run *run) {
    return tm_require(run, "allow_ro", tock_allow_ro(TOCK_CONSOLE, TOCK_CONSOLE_WRITE, 0, 0)) &&
           tm_require(run, "subscribe", tock_subscribe(TOCK_CONSOLE, TOCK_CONSOLE_WRITE, 0, 0));
}

static const struct tm_bench benches[] = {
    {
        .id = "console.write",
        .samples = 32,
        .inner = 1,
        .body = tm_console_write_and_wait,
        .expect = 1,
        .params = {TM_PARAM("size", 1, WRITE_MAX)},
        .setup = setup,
        .before = before,
        .finish = finish,
    },
};

const struct tm_app tm_app = {.name = "console", TM_BENCHES(benches)};
