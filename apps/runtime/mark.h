/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Marks: the simulator records when the core reaches the function tm_mark_x. */
#ifndef TM_RUNTIME_MARK_H
#define TM_RUNTIME_MARK_H

#define TM_MARK(name)                                                                              \
    __attribute__((noinline)) void tm_mark_##name(void) { __asm__ volatile(""); }

/* A sample starts here. */
void tm_mark_arm(void);

#endif
