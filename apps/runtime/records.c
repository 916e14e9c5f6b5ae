/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The records of an app, and the end of an app that panics: see records.h. */
#include "records.h"

struct tm_out tm_log = {.write = tm_console_write};
const struct tm_run *tm_row_at_hand;

void tm_begin_record(const struct tm_run *run, const char *kind) {
    tm_record(&tm_log, kind);
    tm_record_words(&tm_log, run->bench->id);
    for (uint32_t i = 0; i < TM_PARAMS_MAX && run->bench->params[i].name; i++) {
        const struct tm_param *param = &run->bench->params[i];
        if (param->names)
            tm_record_pair(&tm_log, param->name, param->names[run->value[i]]);
        else
            tm_record_number(&tm_log, param->name, run->value[i]);
    }
}

/* Return the part after the last slash. */
static const char *last_part(const char *file, const char *end) {
    const char *at = end;
    while (at > file && at[-1] != '/')
        at--;
    return at;
}

/* Return the file's name without its suffix, as the name of an app that prints no records. */
static const char *name_of(const char *at, const char *end) {
    static char name[13];
    uint32_t length = 0;
    for (; at < end && *at != '.' && length < sizeof name - 1; length++)
        name[length] = *at++;
    return name;
}

_Noreturn void tm_panic(const char *file, uint32_t length, uint32_t line) {
    const char *end = file + length, *at = last_part(file, end);
    struct tm_word word = {.length = 0};
    if (!tm_log.app)
        tm_log.app = name_of(at, end);
    if (tm_row_at_hand)
        tm_begin_record(tm_row_at_hand, "fail");
    else
        tm_record(&tm_log, "fail panic");
    tm_record_words(&tm_log, "call=panic");
    tm_word_text(&word, "err=");
    while (at < end)
        tm_word_char(&word, *at++);
    tm_word_char(&word, ':');
    tm_word_decimal(&word, line);
    tm_record_word(&tm_log, &word);
    tm_record_end(&tm_log);
    tm_record(&tm_log, "end panicked");
    tm_record_end(&tm_log);
    tock_exit(TOCK_EXIT_TERMINATE, 1);
}
