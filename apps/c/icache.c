/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The app icache: straight runs of NOPs, from which the size of the instruction cache can be seen.
 * They are in asm/nops.S. */
#include "bench.h"

enum { PASSED = 0x5eed };

#define KIB(n) ((n)*1024)

/* The body begins so far before the end of the run. It gives back its argument. */
static bool setup(struct tm_run *run) {
    tm_body *end = run->value[0] == 2 ? tm_nops_2_end : tm_nops_4_end;
    run->shot.body = (tm_body *)((uintptr_t)end - run->value[1]);
    run->shot.arg = (void *)PASSED;
    return true;
}

static const struct tm_bench benches[] = {
    {
        .id = "icache.nops",
        .samples = 100,
        .inner = 1,
        .expect = PASSED,
        .params = {TM_PARAM("width", 2, 4),
                   TM_PARAM("size", 0, KIB(1), KIB(2), KIB(3), KIB(4), KIB(5), KIB(6), KIB(7),
                            KIB(8), KIB(9), KIB(10), KIB(11), KIB(12), KIB(13), KIB(14), KIB(15),
                            KIB(16))},
        .setup = setup,
    },
};

const struct tm_app tm_app = {.name = "icache", TM_BENCHES(benches)};
