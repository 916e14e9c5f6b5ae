/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* An app that writes lines of 64 bytes without end. */
#include "tock.h"

int main(void) {
    static char line[64];
    for (uint32_t i = 0; i < sizeof line; i++)
        line[i] = i + 1 < sizeof line ? '.' : '\n';
    for (;;)
        tm_console_write(line, sizeof line);
}
