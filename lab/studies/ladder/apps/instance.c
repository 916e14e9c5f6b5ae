/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* An instance of a small program: ChaCha20 over 4096 bytes, RUNS times, each answer checked. It
 * prints the core's cycle counter at its start, at its first answer and at its last. */
#include "chacha.h"
#include "reading.h"

#include <stdio.h>

#ifndef RUNS
#define RUNS 16
#endif
#define WORDS 1024

static uint32_t words[WORDS];

static void say(const char *what) {
    static char line[64];
    uint32_t cycles = take_reading(0).first;
    int length = snprintf(line, sizeof line, "instance %lu %s %lu\n",
                          (unsigned long)tm_link.slot + 1, what, (unsigned long)cycles);
    tm_console_write(line, (uint32_t)length);
}

/* Encrypting twice restores the words; the first words are the RFC's (2.3.2). */
static bool is_right(uint32_t run) {
    static const uint32_t known[] = {0xe4e7f110, 0x15593bd1, 0x1fdd0f50, 0xc47120a3};
    uint32_t wrong = 0;
    for (uint32_t i = 0; i < WORDS; i++)
        wrong |= run % 2 ? words[i] : i < 4 ? words[i] ^ known[i] : 0;
    return !wrong;
}

int main(void) {
    say("began");
    for (uint32_t run = 0; run < RUNS; run++) {
        chacha_words(words, WORDS);
        if (!is_right(run)) {
            say("wrong");
            return 1;
        }
        if (run == 0)
            say("first");
    }
    say("last");
    return 0;
}
