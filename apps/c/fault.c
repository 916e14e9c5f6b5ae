/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The app fault: from an app's fault to the next instruction of another one, this. In the slots
 * before it stands faulter.c, several times: each faults when it is notified, and being before this
 * app it runs at once, so that this one goes on right behind its notification when the kernel has
 * stopped it. The times are the simulator's, by its marks.
 */
#include "bench.h"
#include "mark.h"
#include "peer.h"

/* The next instruction of this app. */
TM_MARK(next)

static bool sample(struct tm_run *run) {
    static uint32_t taken;
    struct tock_return found = tm_peer_find("faulter", ++taken);
    if (!tm_require(run, "ipc_discover", found))
        return false;
    tm_mark_arm();
    struct tock_return notified = tm_ipc_notify_service(found.word[0]);
    tm_mark_next();
    return tm_require(run, "ipc_notify", notified);
}

TM_BENCH(fault_stop, .from = "fault", .to = "next", .sample = sample);
TM_APP(fault);
