/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The app irq: the time from the rise of the timer's interrupt line to the kernel's first
 * instruction, and to the app's upcall. In scene 1 the core sleeps at the interrupt, in scene 2 it
 * runs spinner.c in user mode.
 */
#include "alarm_mark.h"

/* A sleeping core continues after its WFI: the baseline kernel takes no trap there. */
static bool setup_entry(struct tm_run *run) {
    run->to = run->value[0] == TM_INDEX_irq_entry_core_asleep ? "wake" : "trap";
    return alarm_setup(run);
}

TM_BENCH(irq_entry, .from = "irq", .setup = setup_entry, .sample = alarm_sample,
         .finish = alarm_finish);
TM_BENCH(irq_upcall, .from = "irq", .to = "upcall", .setup = alarm_setup, .sample = alarm_sample,
         .finish = alarm_finish);
TM_APP(irq);
