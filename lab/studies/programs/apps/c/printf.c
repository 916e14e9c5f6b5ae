/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Lines by picolibc's snprintf. The known sum comes from another program: the CRC-32 of the text
 * that Python's `"%-8s|%6d|%08x|%u\n" % …` makes. */
#include "program.h"

#include <stdio.h>
#include <string.h>

#define LINES TM_INNER_printf_format
#define KNOWN 0x76b1b997U

static char text[LINES * 40];
static uint32_t used;

static void prepare(const uint32_t *value) {
    (void)value;
    memset(text, 0, sizeof text);
    used = 0;
}

static uint32_t work(void *arg) {
    (void)arg;
    static const char *const names[] = {"alpha", "beta", "gamma", "delta"};
    uint32_t number = 1;
    for (uint32_t i = 0; i < LINES; i++) {
        number = number * 1103515245U + 12345U;
        int signed_one = (int)(number >> 16) - 32768;
        used += (uint32_t)snprintf(text + used, sizeof text - used, "%-8s|%6d|%08x|%u\n",
                                   names[i % 4], signed_one, (unsigned)number, (unsigned)i);
    }
    return 0;
}

static bool is_right(const uint32_t *value) {
    (void)value;
    uint32_t crc = ~0U;
    for (uint32_t i = 0; i < used && i < sizeof text; i++) {
        crc ^= (uint8_t)text[i];
        for (int bit = 0; bit < 8; bit++)
            crc = crc >> 1 ^ (0xedb88320U & -(crc & 1));
    }
    return ~crc == KNOWN;
}

TM_PROGRAM(printf, printf_format, 2048, prepare, work, is_right);
