/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The apps growth and eight: what an operation costs with more and more processes, which wait for
 * ever (idle.c), or have an alarm that is far away (sleeper.c). This app is
 * in the first slot.
 */
#include "alarm_mark.h"
#include "growth_rows.h"
#include "ipc.h"

#define PASTED(group, row) group##_##row
#define PASTE(group, row) PASTED(group, row)
#define BENCH(row, ...) TM_BENCH(PASTE(TM_GROUP, row), __VA_ARGS__)
#define APP(group) TM_APP(group)

static char absent[] = "absent"; /* in RAM, as version 1 requires */

static bool setup_find(struct tm_run *run) {
    run->expect = TOCK_FAILURE;
    return tm_verify(run, tock_failed(tm_ipc_find(absent, sizeof absent - 1)));
}

static uint32_t find(void *arg) {
    (void)arg;
    return tock_command(TOCK_IPC, TOCK_IPC_FIND, 0, 0).variant;
}

/* The measured time has passed before this app runs. */
static bool sample_start(struct tm_run *run) {
    (void)run;
    return true;
}

static bool setup_set(struct tm_run *run) {
    run->expect = TOCK_SUCCESS_U32;
    return tm_require(run, "nap", tm_nap(TM_PEER_START_MS));
}

static uint32_t set(void *arg) {
    (void)arg;
    return tm_alarm_after(1U << 28).variant;
}

BENCH(command, .body = tm_syscall_command, .expect = TM_READ_RETURNS);
BENCH(find, .body = find, .setup = setup_find);
BENCH(wake, .from = "irq", .to = "upcall", .setup = alarm_setup, .sample = alarm_sample,
      .finish = alarm_finish);
BENCH(start, .from = "reset", .to = "start", .sample = sample_start);
BENCH(set, .body = set, .setup = setup_set);
BENCH(rung, .from = "irq", .to = "upcall", .setup = alarm_setup, .sample = alarm_sample,
      .finish = alarm_finish);
APP(TM_GROUP);
