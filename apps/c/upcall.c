/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The app upcall: the time from a command that schedules an upcall to its arrival. See
 * asm/upcalls.S. */
#include "bench.h"

enum { RETURNED = 42 };

static uint32_t upcalls;

/* Try the command once, so as not to wait for ever on a kernel without it. */
static bool setup(struct tm_run *run) {
    run->shot.arg = &upcalls;
    upcalls = 0;
    if (!TM_BY_PERF && tock_failed(tock_command(TM_PERF, TM_PERF_EXISTS, 0, 0)))
        return tm_skip(run, "this kernel has no Perf, whose upcall it takes");
    if (!tm_require(run, "subscribe", tock_subscribe(TM_PERF, 0, tm_upcall_count, &upcalls)))
        return false;
    if (tock_failed(tock_command(TM_PERF, TM_PERF_UPCALL, 0, 0)))
        return tm_skip(run, "this kernel's Perf schedules no upcalls");
    tock_yield_wait();
    return tm_verify(run, upcalls == 1);
}

static bool finish(struct tm_run *run) {
    return tm_require(run, "subscribe", tock_subscribe(TM_PERF, 0, 0, 0));
}

static bool setup_wait_for(struct tm_run *run) {
#if TM_ABI == 2
    if (!setup(run))
        return false;
    tock_command(TM_PERF, TM_PERF_UPCALL, RETURNED, 0);
    struct tock_return returned = tock_yield_wait_for(TM_PERF, 0);
    if (returned.word[1] != RETURNED)
        return tm_skip(run, "this kernel has no yield-wait-for");
#endif
    (void)run;
    return true;
}

TM_BENCH(upcall_yield_wait, .body = tm_upcall_yield_wait, .expect = 1, .setup = setup,
         .finish = finish);
TM_BENCH(upcall_yield_wait_for, .body = TM_BY_ABI(0, tm_upcall_yield_wait_for), .expect = RETURNED,
         .setup = setup_wait_for, .finish = finish);
TM_APP(upcall);
