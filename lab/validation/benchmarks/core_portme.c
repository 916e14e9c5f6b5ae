// SPDX-License-Identifier: Apache-2.0 OR MIT
// The port of lms to the bare core. It sends the iterations and their cycles to the mailbox, and
// ends the run without an error only if its core reports that all its checksums are right.
#include "coremark.h"

#define MAILBOX ((volatile uint32_t *)0x41130000)

// The seeds of EEMBC's performance run.
volatile ee_s32 seed1_volatile = 0, seed2_volatile = 0, seed3_volatile = 0x66;
volatile ee_s32 seed4_volatile = ITERATIONS, seed5_volatile = 0;
ee_u32 default_num_contexts = 1;

static uint32_t begun, ended;
static int validated;

static uint32_t mcycle(void) {
    uint32_t cycles;
    __asm__ volatile("csrr %0, mcycle" : "=r"(cycles));
    return cycles;
}

void start_time(void) { begun = mcycle(); }
void stop_time(void) { ended = mcycle(); }
CORE_TICKS get_time(void) { return ended - begun; }
secs_ret time_in_secs(CORE_TICKS ticks) { return ticks / 1000000; }

// Only the verdict in its output matters.
int ee_printf(const char *format, ...) {
    const char *verdict = "Correct operation validated";
    while (*verdict && *format == *verdict)
        ++verdict, ++format;
    validated |= !*verdict;
    return 0;
}

void portable_init(core_portable *p, int *argc, char *argv[]) {
    (void)argc, (void)argv;
    p->portable_id = 1;
}

void portable_fini(core_portable *p) {
    (void)p;
    MAILBOX[0] = ITERATIONS;
    MAILBOX[0] = ended - begun;
    MAILBOX[1] = !validated;
}
