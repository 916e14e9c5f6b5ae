/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Dhrystone of riscv-tests. The known answers are the final values in its source. */
#include "program.h"

#include "dhrystone/dhrystone.h"

extern Rec_Pointer Ptr_Glob, Next_Ptr_Glob;
extern int Int_Glob;
extern Boolean Bool_Glob;
extern char Ch_1_Glob, Ch_2_Glob;
extern int Arr_1_Glob[50], Arr_2_Glob[50][50];

int dhrystone_main(void);

/* Its own times and output are ignored. */
long time(long *seconds) {
    static long now;
    (void)seconds;
    return now += 10; /* less would be too short for it */
}
int printf(const char *format, ...) {
    (void)format;
    return 0;
}
void setStats(int enable) { (void)enable; }

static void prepare(const uint32_t *value) {
    (void)value;
    Int_Glob = Arr_1_Glob[8] = Arr_2_Glob[8][7] = 0;
    Bool_Glob = 0;
    Ch_1_Glob = Ch_2_Glob = 0;
}

static uint32_t work(void *arg) {
    (void)arg;
    return (uint32_t)dhrystone_main();
}

static bool is_right(const uint32_t *value) {
    (void)value;
    return Int_Glob == 5 && Bool_Glob == 1 && Ch_1_Glob == 'A' && Ch_2_Glob == 'B' &&
           Arr_1_Glob[8] == 7 && Arr_2_Glob[8][7] == NUMBER_OF_RUNS + 10;
}

TM_PROGRAM(dhrystone, dhrystone_run, 2048, prepare, work, is_right);
