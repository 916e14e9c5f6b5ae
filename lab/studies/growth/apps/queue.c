/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The app queue: alarms of one process by libtock-c's own queue. Without LIBTOCK_C (build.mk) its
 * rows are skipped.
 */
#include "alarm.h"
#include "bench.h"
#include "growth_rows.h"

#ifdef TM_LIBTOCK
#define tock_exit libtock_exit /* this name is also ours */
#include <libtock/services/alarm.h>

#define FAR (1U << 28) /* ticks: later than any run ends */

static libtock_alarm_ticks_t others[TM_MAX_queue_add_others], one;
static uint32_t now, ticks;

/* The library exits if the kernel breaks the interface. */
_Noreturn void _exit(int code) {
    (void)code;
    for (;;)
        tock_yield_wait();
}

static void on_alarm(uint32_t at, uint32_t due, void *userdata) {
    (void)at, (void)due, (void)userdata;
}

/* Put as many alarms into an empty queue as the row wants. */
static bool setup(struct tm_run *run) {
    bool last = run->value[0] == TM_INDEX_queue_add_due_last;
    now = tm_alarm_now();
    ticks = last ? 2 * FAR : FAR - 1;
    libtock_alarm_cancel(&one);
    for (uint32_t i = 0; i < TM_MAX_queue_add_others; i++)
        libtock_alarm_cancel(&others[i]);
    for (uint32_t i = 0; i < run->value[1]; i++)
        if (libtock_alarm_at(now, FAR + i, on_alarm, 0, &others[i]) != RETURNCODE_SUCCESS)
            return tm_fail(run, "libtock_alarm_at", "FAIL");
    return true;
}

static uint32_t add(void *arg) {
    (void)arg;
    return (uint32_t)libtock_alarm_at(now, ticks, on_alarm, 0, &one);
}

static uint32_t cancel(void *arg) {
    (void)arg;
    libtock_alarm_cancel(&one);
    return 0;
}

static bool add_before(struct tm_run *run) { return tm_verify(run, add(0) == RETURNCODE_SUCCESS); }
static bool cancel_before(struct tm_run *run) { return cancel(run) == 0; }

TM_BENCH(queue_add, .body = add, .setup = setup, .before = cancel_before);
TM_BENCH(queue_cancel, .body = cancel, .setup = setup, .before = add_before);
#else
static bool setup(struct tm_run *run) {
    return tm_skip(run, "its apps were built without libtock-c");
}

TM_BENCH(queue_add, .setup = setup);
TM_BENCH(queue_cancel, .setup = setup);
#endif
TM_APP(queue);
