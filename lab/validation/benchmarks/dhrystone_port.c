// SPDX-License-Identifier: Apache-2.0 OR MIT
// Dhrystone's port to the bare core. It runs Dhrystone (whose main is renamed at compilation), then
// sends to the mailbox the runs and their cycles, and ends the run with the number of results that
// differ from those in its source.
#include "dhrystone.h"

#define MAILBOX ((volatile unsigned *)0x41130000)

extern Rec_Pointer Ptr_Glob, Next_Ptr_Glob;
extern int Int_Glob;
extern Boolean Bool_Glob;
extern char Ch_1_Glob, Ch_2_Glob;
extern int Arr_1_Glob[50], Arr_2_Glob[50][50];
extern long User_Time;

int dhrystone(void);

// Its own output is ignored.
int printf(const char *format, ...) { return 0; }
void setStats(int enable) {}

int main(void) {
    dhrystone();
    const unsigned wrong = (Int_Glob != 5) + (Bool_Glob != 1) + (Ch_1_Glob != 'A') +
                           (Ch_2_Glob != 'B') + (Arr_1_Glob[8] != 7) +
                           (Arr_2_Glob[8][7] != NUMBER_OF_RUNS + 10);
    MAILBOX[0] = NUMBER_OF_RUNS;
    MAILBOX[0] = (unsigned)User_Time;
    MAILBOX[1] = wrong;
    return 0;
}
