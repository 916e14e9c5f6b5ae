/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* What the apps of this folder print with. They show faults of other kernels one by one, for the
 * texts in docs/upstream/; tools/reproduce.py runs them. */
#ifndef UPSTREAM_SAY_H
#define UPSTREAM_SAY_H

#include "tock.h"

/* Print a text of at most 64 bytes. */
static inline void say(const char *text) {
    uint32_t length = 0;
    while (text[length])
        length++;
    tm_console_write(text, length);
}

/* Print a text, a number in decimal, and the end of the line. */
static inline void say_number(const char *text, uint32_t number) {
    char digits[12];
    char *first = digits + sizeof digits;
    *--first = '\0';
    *--first = '\n';
    do
        *--first = (char)('0' + number % 10);
    while (number /= 10);
    say(text);
    say(first);
}

/* Print a text and what a call returned: OK, or its error. */
static inline void say_returned(const char *text, struct tock_return returned) {
    say(text);
    say(tock_failed(returned) ? tock_error_name(returned.word[0]) : "OK");
    say("\n");
}

#endif
