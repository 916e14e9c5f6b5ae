/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The checks of rules: see checks.h. */
#include "checks.h"
#include "protocol.h"

static struct {
    const char *number;
    bool wrong;
    uint32_t line, got, want; /* of the first expectation that failed */
} current;

/* Reports the rule that is being checked. */
void before_record(void) {
    if (!current.number)
        return;
    struct tm_out *out = begin_record("rule");
    tm_record_words(out, current.number);
    tm_record_words(out, current.wrong ? "wrong" : "ok");
    if (current.wrong) {
        tm_record_number(out, "line", current.line);
        tm_record_number(out, "got", current.got);
        tm_record_number(out, "want", current.want);
    }
    end_record();
    current.number = 0;
    current.wrong = false;
}

void rule(const char *number) {
    before_record();
    current.number = number;
}

void skip_rule(const char *number, const char *why) {
    before_record();
    struct tm_out *out = begin_record("rule");
    tm_record_words(out, number);
    tm_record_words(out, "skipped");
    tm_record_quoted(out, "why", why);
    end_record();
}

void expect_at(uint32_t line, uint32_t got, uint32_t want) {
    if (got == want || current.wrong)
        return;
    current.wrong = true;
    current.line = line;
    current.got = got;
    current.want = want;
}

#if TM_ABI == 1
void expect_error_at(uint32_t line, struct answer answer, uint32_t error) {
    expect_at(line, answer.a0, -error);
}
#else
void expect_error_at(uint32_t line, struct answer answer, uint32_t error) {
    expect_at(line, answer.a0, FAILURE);
    expect_at(line, answer.a1, error);
}

void expect_pair_at(uint32_t line, struct answer answer, uint32_t first, uint32_t second) {
    expect_at(line, answer.a0, PAIR);
    expect_at(line, answer.a1, first);
    expect_at(line, answer.a2, second);
}

void expect_refused_at(uint32_t line, struct answer answer, uint32_t error, uint32_t first,
                       uint32_t second) {
    expect_at(line, answer.a0, FAILURE_PAIR);
    expect_at(line, answer.a1, error);
    expect_at(line, answer.a2, first);
    expect_at(line, answer.a3, second);
}
#endif
