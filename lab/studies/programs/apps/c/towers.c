/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The towers of Hanoi of riscv-tests, which checks its own solution: every disc, and 2^7 - 1 moves.
 */
#include "program.h"

int towers_main(int argc, char *argv[]);

static uint32_t solved; /* the program calls setStats at its start and its end */

void setStats(int enable) { solved += !enable; }

static void prepare(const uint32_t *value) {
    (void)value;
    solved = 0;
}

static uint32_t work(void *arg) {
    (void)arg;
    uint32_t wrong = 0;
    for (uint32_t i = 0; i < TM_INNER_towers_solve; i++)
        wrong |= (uint32_t)towers_main(0, 0);
    return wrong;
}

static bool is_right(const uint32_t *value) {
    (void)value;
    return solved == TM_INNER_towers_solve;
}

TM_PROGRAM(towers, towers_solve, 2048, prepare, work, is_right);
