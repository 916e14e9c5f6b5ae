/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Prints a line, to show that it runs. */
#include "app.h"

int main(void) {
    printf("hello\n");
    return 0;
}
