/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The quicksort of riscv-tests, which compares its result with its own sorted data. */
#include "program.h"

#include <string.h>

#define NUMBERS 2048 /* DATA_SIZE of its dataset1.h */

extern int input_data[NUMBERS];
int qsort_main(int argc, char *argv[]);
void setStats(int enable) { (void)enable; }

static int unsorted[NUMBERS];

static void prepare(const uint32_t *value) {
    (void)value;
    static bool kept;
    if (!kept)
        memcpy(unsorted, input_data, sizeof unsorted);
    kept = true;
    memcpy(input_data, unsorted, sizeof unsorted);
}

static uint32_t work(void *arg) {
    (void)arg;
    return (uint32_t)qsort_main(0, 0);
}

/* Check the order without the program's own comparison. */
static bool is_right(const uint32_t *value) {
    (void)value;
    for (uint32_t i = 1; i < NUMBERS; i++)
        if (input_data[i - 1] > input_data[i])
            return false;
    return true;
}

TM_PROGRAM(qsort, qsort_sort, 2048, prepare, work, is_right);
