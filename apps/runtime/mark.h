/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Marks: the simulator notes when it comes to the function tm_mark_x. */
#ifndef TM_RUNTIME_MARK_H
#define TM_RUNTIME_MARK_H

#define TM_MARK(name)                                                                              \
    __attribute__((noinline)) void tm_mark_##name(void) { __asm__ volatile(""); }

/* A sample begins here. */
void tm_mark_arm(void);

#endif
