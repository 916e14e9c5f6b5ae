/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The suite's own memcpy: four words per pass, as in newlib, which the study of 2021 used. It comes
 * before the C library in the link, because picolibc as Debian packages it copies byte by byte.
 */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define PASS (4 * sizeof(uint32_t))

void *memcpy(void *restrict to, const void *restrict from, size_t size) {
    uint8_t *bytes_to = to;
    const uint8_t *bytes_from = from;
    if ((((uintptr_t)to | (uintptr_t)from) & 3) == 0) {
        uint32_t *words_to = to;
        const uint32_t *words_from = from;
        const uint32_t *end = words_from + size / PASS * 4;
        for (; words_from != end; words_from += 4) {
            uint32_t a = words_from[0], b = words_from[1], c = words_from[2], d = words_from[3];
            words_to += 4;
            words_to[-4] = a;
            words_to[-3] = b;
            words_to[-2] = c;
            words_to[-1] = d;
        }
        bytes_to = (uint8_t *)words_to;
        bytes_from = (const uint8_t *)words_from;
        size %= PASS;
    }
    while (size--)
        *bytes_to++ = *bytes_from++;
    return to;
}
