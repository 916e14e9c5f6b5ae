/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The app fault: the time from another app's fault to the next instruction of this app. faulter.c
 * is several times in the slots before this one. Each faulter faults when it is notified. It runs
 * at once, since its slot is before this one; after the kernel has stopped it, this app continues
 * after its notification. The simulator's marks give the times.
 */
#include "bench.h"
#include "mark.h"
#include "peer.h"

/* The next instruction of this app. */
TM_MARK(next)

static bool sample(struct tm_run *run) {
    static uint32_t taken;
    struct tock_return peer = tm_peer_find("faulter", ++taken);
    if (!tm_require(run, "ipc_discover", peer))
        return false;
    tm_mark_arm();
    struct tock_return notified = tm_ipc_notify_service(peer.word[0]);
    tm_mark_next();
    return tm_require(run, "ipc_notify", notified);
}

TM_BENCH(fault_stop, .from = "fault", .to = "next", .sample = sample);
TM_APP(fault);
