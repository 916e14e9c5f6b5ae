/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The app irq: from the rise of the timer's interrupt line to the kernel's first instruction, and
 * to the app's upcall. In scene 1 the core sleeps then, in scene 2 it runs spinner.c in user mode.
 */
#include "alarm_mark.h"

/* A core that sleeps goes on behind its WFI: the baseline kernel takes no trap there. */
#define ENTRY(state, its_scene, mark)                                                              \
    {                                                                                              \
        .id = "irq.entry", .samples = 25, .inner = 1, .from = "irq", .to = mark,                   \
        .scene = its_scene, .params = {TM_NAMED_PARAM("core", state)}, .setup = alarm_setup,       \
        .sample = alarm_sample, .finish = alarm_finish                                             \
    }

static const struct tm_bench benches[] = {
    ENTRY("asleep", 1, "wake"),
    ENTRY("busy", 2, "trap"),
    {
        .id = "irq.upcall",
        .samples = 25,
        .inner = 1,
        .from = "irq",
        .to = "upcall",
        .scene = 1,
        .params = {TM_NAMED_PARAM("core", "asleep", "busy")},
        .setup = alarm_setup,
        .sample = alarm_sample,
        .finish = alarm_finish,
    },
};

const struct tm_app tm_app = {.name = "irq", TM_BENCHES(benches)};
