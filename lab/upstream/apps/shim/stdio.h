/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* printf for the apps of lab/upstream/apps/ where they are built with our runtime: it knows %s and
 * %lu, and waits until all is out. A piece between two of them has at most 64 bytes. */
#ifndef UPSTREAM_STDIO_H
#define UPSTREAM_STDIO_H

#include <stdarg.h>

#include "tock.h"

static inline void tm_say(const char *text, uint32_t length) {
    if (length)
        tm_console_write(text, length);
}

__attribute__((format(printf, 1, 2))) static inline int printf(const char *form, ...) {
    va_list values;
    va_start(values, form);
    const char *piece = form;
    for (; *form; form++) {
        if (*form != '%')
            continue;
        tm_say(piece, form - piece);
        char digits[10];
        char *first = digits + sizeof digits;
        const char *text = first;
        uint32_t length = 0;
        if (*++form == 's') {
            text = va_arg(values, const char *);
            while (text[length])
                length++;
        } else { /* "lu" */
            form++;
            unsigned long number = va_arg(values, unsigned long);
            do
                *--first = (char)('0' + number % 10);
            while (number /= 10);
            text = first;
            length = digits + sizeof digits - first;
        }
        tm_say(text, length);
        piece = form + 1;
    }
    tm_say(piece, form - piece);
    va_end(values);
    return 0;
}

#endif
