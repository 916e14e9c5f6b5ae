/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The app csrs: reads, or in scene 1 writes, each of the 4096 control registers that an instruction
 * can name. The kernel reports the faults with the instruction; the app reports the accesses that
 * do not fault. After a fault the kernel restarts it and it continues with the next one. The link
 * symbol cf_step is the distance between two tested numbers: 1 tests all.
 */
#include "report.h"

const struct identity identity = {"csrs", 1, 0};

enum { NEXT }; /* in kept.words */
enum { NUMBERS = 4096 };

/* csrs.S: 8 bytes per access. */
extern const uint32_t csr_reads[], csr_writes[];

void run(void) {
    const uint32_t *accesses = app_scene ? csr_writes : csr_reads;
    while (kept.words[NEXT] < NUMBERS) {
        uint32_t number = kept.words[NEXT];
        kept.words[NEXT] += app_step;
        ((void (*)(void))(uintptr_t)(accesses + 2 * number))();
        say("csr", "open", NUMBER("number", number), NONE);
    }
    say("csr", "done", NUMBER("numbers", NUMBERS), NONE);
    finish();
}
