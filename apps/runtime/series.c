/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Series: run-length encoding with groups of up to TM_PERIOD_MAX, and the steady rule. */
#include "series.h"

bool tm_series_repeats(const struct tm_sample_pair *samples, uint32_t count) {
    if (count < TM_STEADY_WINDOW)
        return false;
    for (uint32_t period = 1; period <= TM_PERIOD_MAX; period++) {
        uint32_t i = period;
        while (i < count && samples[i].cycles == samples[i - period].cycles &&
               samples[i].instret == samples[i - period].instret)
            i++;
        if (i == count)
            return true;
    }
    return false;
}

/* Return how often the first `period` values follow each other. */
static uint32_t repeats(const uint32_t *values, uint32_t stride, uint32_t count, uint32_t period) {
    uint32_t i = period;
    while (i < count && values[i * stride] == values[(i - period) * stride])
        i++;
    return i / period;
}

static void put_run(struct tm_word *word, const uint32_t *values, uint32_t stride, uint32_t period,
                    uint32_t times) {
    word->length = 0;
    for (uint32_t i = 0; i < period; i++) {
        if (period > 1)
            tm_word_char(word, i ? ',' : '(');
        tm_word_decimal(word, values[i * stride]);
    }
    if (period > 1)
        tm_word_char(word, ')');
    if (times > 1) {
        tm_word_char(word, '*');
        tm_word_decimal(word, times);
    }
}

/* At each position, choose the run that reaches furthest; among equals, the run with the shortest
 * group. */
void tm_record_series(struct tm_out *out, const uint32_t *values, uint32_t stride, uint32_t count) {
    struct tm_word word;
    for (uint32_t at = 0; at < count;) {
        const uint32_t *here = values + at * stride;
        uint32_t best_period = 1, best_times = 1;
        for (uint32_t period = 1; period <= TM_PERIOD_MAX && period <= count - at; period++) {
            uint32_t times = repeats(here, stride, count - at, period);
            if (times < 2 || times * period <= best_times * best_period)
                continue;
            put_run(&word, here, stride, period, times);
            if (word.length <=
                TM_WORD_MAX) { /* a group of large values may be too long for a line */
                best_period = period;
                best_times = times;
            }
            if (best_times * best_period == count - at) /* no other run can be longer */
                break;
        }
        put_run(&word, here, stride, best_period, best_times);
        tm_record_word(out, &word);
        at += best_times * best_period;
    }
}

void tm_record_group(struct tm_out *out, const uint32_t *values, uint32_t count) {
    struct tm_word word;
    bool equal = repeats(values, 1, count, 1) == count;
    put_run(&word, values, 1, equal ? 1 : count, equal ? count : 1);
    tm_record_word(out, &word);
}
