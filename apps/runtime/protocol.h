/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The UART protocol, the app's side: records go in, checked lines of at most 64 bytes go out.
 *
 *     #tm <seq> <app> <text> *<crc>
 *
 * The lines of a row go out in one write, since a write costs a kernel far more than its bytes.
 * Each line but the last is filled up to 64 bytes with spaces. So a console that sends 64 bytes at
 * a time, like Tock's, sends whole lines, and output of the kernel in between does not split a
 * line.
 *
 * Pure C that needs neither kernel nor console, so the tests run it on the host.
 */
#ifndef TM_RUNTIME_PROTOCOL_H
#define TM_RUNTIME_PROTOCOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TM_LINE_MAX 64 /* bytes that a Tock console writes in one piece, newline included */
#define TM_LINES_MAX 8 /* in one write */
#define TM_WORD_MAX 32 /* fits in any line, after the longest seq (5 digits) and app (12) */

struct tm_out {
    const char *app;
    void (*write)(const char *lines, uint32_t length);
    uint32_t seq;
    uint32_t whole; /* bytes of complete lines that are not written yet */
    uint32_t used;  /* bytes of the line after them, which is incomplete */
    bool empty;     /* that line has no word yet */
    char text[TM_LINES_MAX * TM_LINE_MAX];
};

/* A word under construction. `length` keeps counting if the word gets too long. */
struct tm_word {
    char text[TM_WORD_MAX];
    uint32_t length;
};

/* CRC-16/CCITT-FALSE. */
uint16_t tm_crc16(const char *bytes, size_t length);

void tm_word_char(struct tm_word *word, char c);
void tm_word_text(struct tm_word *word, const char *text);
void tm_word_decimal(struct tm_word *word, uint32_t value);

/* A record starts with its first words, is filled, and ends: it is written at once, or with the
 * next record, which must follow directly. */
void tm_record(struct tm_out *out, const char *words);
void tm_record_end(struct tm_out *out);
void tm_record_and_next(struct tm_out *out);

/* Add words, separated by single spaces. A word of more than TM_WORD_MAX bytes is cut, and ends in
 * '~'. */
void tm_record_words(struct tm_out *out, const char *words);
void tm_record_word(struct tm_out *out, struct tm_word *word);
void tm_record_number(struct tm_out *out, const char *key, uint32_t value);
void tm_record_pair(struct tm_out *out, const char *key, const char *value);
void tm_record_quoted(struct tm_out *out, const char *key, const char *text);

#endif
