/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The app flash: what data in flash cost. Bodies and tables are in asm/flash.S. */
#include "bench.h"

static bool setup_seq(struct tm_run *run) {
    run->expect = tm_flash_table[TM_FLASH_WORDS - 1];
    return true;
}

/* The walk as it should go, and its sum. */
static bool setup_sporadic(struct tm_run *run) {
    uint32_t loads = 0;
    run->expect = 0;
    for (uint32_t i = 0; i < TM_FLASH_WORDS; i += 1 + tm_flash_table[i], loads++)
        run->expect += tm_flash_table[i];
    return tm_verify(run, loads == TM_FLASH_SPORADIC);
}

/* Where the chain leads from its start, in so many loads. */
static bool setup_chain(struct tm_run *run) {
    static const uint32_t *const chains[] = {tm_flash_within, tm_flash_next, tm_flash_far};
    const uint32_t *at = chains[run->value[0]];
    run->shot.arg = (void *)(uintptr_t)at;
    for (uint32_t i = 0; i < TM_FLASH_CHAIN; i++)
        at = (const uint32_t *)(uintptr_t)*at;
    run->expect = (uintptr_t)at;
    return true;
}

static const struct tm_bench benches[] = {
    {
        .id = "flash.read_seq",
        .samples = 100,
        .inner = TM_FLASH_WORDS,
        .body = tm_flash_read_seq,
        .setup = setup_seq,
    },
    {
        .id = "flash.read_sporadic",
        .samples = 100,
        .inner = TM_FLASH_SPORADIC,
        .body = tm_flash_read_sporadic,
        .setup = setup_sporadic,
    },
    {
        .id = "flash.latency",
        .samples = 100,
        .inner = TM_FLASH_CHAIN,
        .body = tm_flash_chain,
        .params = {TM_NAMED_PARAM("to", "within", "next", "far")},
        .setup = setup_chain,
    },
};

const struct tm_app tm_app = {.name = "flash", TM_BENCHES(benches)};
