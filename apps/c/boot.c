/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The app boot: the time from reset to the first instruction of the first app, this one, with
 * idle.c in the slots after it; and in scene 8, the time from the exit of an app that asks for a
 * restart (restarter.c, in the slot before this one) to its first instruction. The simulator's
 * marks give the times.
 */
#include "bench.h"
#include "mark.h"
#include "peer.h"

static uint32_t restarter;
static volatile bool started;

/* The measured time has passed before this app runs. */
static bool sample_boot(struct tm_run *run) {
    (void)run;
    return true;
}

static void on_start(uint32_t sender, uint32_t length, uint32_t address, void *userdata) {
    (void)sender, (void)length, (void)address, (void)userdata;
    started = true;
}

static bool setup_restart(struct tm_run *run) {
    struct tock_return peer = tm_peer_find("restarter", 1);
    if (!tm_require(run, "ipc_discover", peer))
        return false;
    restarter = peer.word[0];
    return tm_require(run, "ipc_subscribe", tm_ipc_listen(restarter, on_start));
}

/* The restarter notifies this app when it has started. */
static bool sample_restart(struct tm_run *run) {
    started = false;
    tm_mark_arm();
    if (!tm_require(run, "ipc_notify", tm_ipc_notify_service(restarter)))
        return false;
    while (!started)
        tock_yield_wait();
    return true;
}

TM_BENCH(boot_per_process, .from = "reset", .to = "start", .sample = sample_boot);
TM_BENCH(boot_restart, .from = "exit", .to = "start", .setup = setup_restart,
         .sample = sample_restart);
TM_APP(boot);
