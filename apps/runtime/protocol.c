/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The UART protocol (protocol.h): splits records at spaces into lines with a number and a CRC. If a
 * write fails, it ends the app (console.c). */
#include "protocol.h"

#define TRAILER 7 /* " *" and four digits of CRC, and the newline */

/* CRC-16/CCITT-FALSE without a table: the shifts by 12, 5 and 0 are the polynomial's bits. A line
 * spends most of its time here. */
uint16_t tm_crc16(const char *bytes, size_t length) {
    uint32_t crc = 0xffff;
    for (size_t i = 0; i < length; i++) {
        uint32_t mixed = (crc >> 8 ^ (uint8_t)bytes[i]) & 0xff;
        mixed ^= mixed >> 4;
        crc = (crc << 8 ^ mixed << 12 ^ mixed << 5 ^ mixed) & 0xffff;
    }
    return (uint16_t)crc;
}

void tm_word_char(struct tm_word *word, char c) {
    if (word->length < TM_WORD_MAX)
        word->text[word->length] = c;
    word->length++;
}

void tm_word_text(struct tm_word *word, const char *text) {
    while (*text)
        tm_word_char(word, *text++);
}

void tm_word_decimal(struct tm_word *word, uint32_t value) {
    char digits[10];
    uint32_t at = sizeof digits, length = word->length;
    do {
        digits[--at] = (char)('0' + value % 10);
        value /= 10;
    } while (value);
    for (; at < sizeof digits; at++, length++)
        if (length < TM_WORD_MAX)
            word->text[length] = digits[at];
    word->length = length;
}

static char *line(struct tm_out *out) { return out->text + out->whole; }

static void add_char(struct tm_out *out, char c) { line(out)[out->used++] = c; }

static void append(struct tm_out *out, const struct tm_word *word) {
    char *to = line(out) + out->used;
    uint32_t length = word->length;
    for (uint32_t i = 0; i < length; i++)
        to[i] = word->text[i];
    out->used += length;
}

static void start_line(struct tm_out *out) {
    struct tm_word head;
    head.length = 0;
    tm_word_text(&head, "#tm ");
    tm_word_decimal(&head, out->seq++);
    tm_word_char(&head, ' ');
    tm_word_text(&head, out->app);
    out->used = 0;
    append(out, &head);
    out->empty = true;
}

static void end_line(struct tm_out *out) {
    static const char digits[] = "0123456789abcdef";
    add_char(out, ' ');
    uint16_t crc = tm_crc16(line(out), out->used);
    add_char(out, '*');
    for (int shift = 12; shift >= 0; shift -= 4)
        add_char(out, digits[crc >> shift & 0xf]);
    add_char(out, '\n');
    out->whole += out->used;
    out->used = 0;
}

static void write(struct tm_out *out) {
    out->write(out->text, out->whole);
    out->whole = 0;
}

/* Pad the last line to 64 bytes, write all lines if the buffer is full, and start a new line. */
static void next_line(struct tm_out *out) {
    for (; out->whole % TM_LINE_MAX; out->whole++) {
        out->text[out->whole - 1] = ' ';
        out->text[out->whole] = '\n';
    }
    if (out->whole == sizeof out->text)
        write(out);
    start_line(out);
}

void tm_record(struct tm_out *out, const char *words) {
    next_line(out);
    tm_record_words(out, words);
}

void tm_record_and_next(struct tm_out *out) { end_line(out); }

void tm_record_end(struct tm_out *out) {
    end_line(out);
    write(out);
}

void tm_record_word(struct tm_out *out, struct tm_word *word) {
    if (word->length > TM_WORD_MAX) {
        word->length = TM_WORD_MAX;
        word->text[TM_WORD_MAX - 1] = '~';
    }
    if (!out->empty && out->used + 1 + word->length + TRAILER > TM_LINE_MAX) {
        end_line(out);
        next_line(out);
        add_char(out, ' ');
        add_char(out, '+');
    }
    add_char(out, ' ');
    append(out, word);
    out->empty = false;
}

/* Add text to a word. At each space, add the word to the line and start a new word. */
static void add_text(struct tm_out *out, struct tm_word *word, const char *text) {
    for (; *text; text++) {
        uint32_t length = word->length;
        for (; *text && *text != ' '; text++, length++)
            if (length < TM_WORD_MAX)
                word->text[length] = *text;
        word->length = length;
        if (!*text)
            return;
        tm_record_word(out, word);
        word->length = 0;
    }
}

static void start_pair(struct tm_word *word, const char *key) {
    word->length = 0;
    tm_word_text(word, key);
    tm_word_char(word, '=');
}

void tm_record_words(struct tm_out *out, const char *words) {
    struct tm_word word;
    word.length = 0;
    add_text(out, &word, words);
    tm_record_word(out, &word);
}

void tm_record_number(struct tm_out *out, const char *key, uint32_t value) {
    struct tm_word word;
    start_pair(&word, key);
    tm_word_decimal(&word, value);
    tm_record_word(out, &word);
}

void tm_record_pair(struct tm_out *out, const char *key, const char *value) {
    struct tm_word word;
    start_pair(&word, key);
    tm_word_text(&word, value);
    tm_record_word(out, &word);
}

void tm_record_quoted(struct tm_out *out, const char *key, const char *text) {
    struct tm_word word;
    start_pair(&word, key);
    tm_word_char(&word, '"');
    add_text(out, &word, text);
    tm_word_char(&word, '"');
    tm_record_word(out, &word);
}
