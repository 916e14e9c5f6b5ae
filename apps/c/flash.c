/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The app flash: the cost of data in flash. Bodies and tables are in asm/flash.S. */
#include "bench.h"

static bool setup_seq(struct tm_run *run) {
    run->expect = tm_flash_table[TM_INNER_flash_read_seq - 1];
    return true;
}

/* Follow the walk here to get its expected sum. */
static bool setup_sporadic(struct tm_run *run) {
    uint32_t loads = 0;
    run->expect = 0;
    for (uint32_t i = 0; i < TM_INNER_flash_read_seq; i += 1 + tm_flash_table[i], loads++)
        run->expect += tm_flash_table[i];
    return tm_verify(run, loads == TM_INNER_flash_read_sporadic);
}

/* Follow the chain here to get the address after this many loads. */
static bool setup_chain(struct tm_run *run) {
    static const uint32_t *const chains[] = {
        [TM_INDEX_flash_latency_to_within] = tm_flash_within,
        [TM_INDEX_flash_latency_to_next] = tm_flash_next,
        [TM_INDEX_flash_latency_to_far] = tm_flash_far,
    };
    const uint32_t *at = chains[run->value[0]];
    run->shot.arg = (void *)(uintptr_t)at;
    for (uint32_t i = 0; i < TM_INNER_flash_latency; i++)
        at = (const uint32_t *)(uintptr_t)*at;
    run->expect = (uintptr_t)at;
    return true;
}

TM_BENCH(flash_read_seq, .body = tm_flash_read_seq, .setup = setup_seq);
TM_BENCH(flash_read_sporadic, .body = tm_flash_read_sporadic, .setup = setup_sporadic);
TM_BENCH(flash_latency, .body = tm_flash_chain, .setup = setup_chain);
TM_APP(flash);
