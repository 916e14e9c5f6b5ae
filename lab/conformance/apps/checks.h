/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The checks of rules, and their reports. */
#ifndef CONFORMANCE_CHECKS_H
#define CONFORMANCE_CHECKS_H

#include "report.h"

/* Starts the check of a rule; all expectations up to the next rule belong to it. */
void rule(const char *number);

/* The kernel has nothing on which this rule could be checked. */
void skip_rule(const char *number, const char *why);

void expect_at(uint32_t line, uint32_t got, uint32_t want);
#define expect(got, want) expect_at(__LINE__, got, want)
#define expect_true(condition) expect_at(__LINE__, (condition) ? 1 : 0, 1)
#define expect_error(answer, error) expect_error_at(__LINE__, answer, error)
void expect_error_at(uint32_t line, struct answer answer, uint32_t error);
#if TM_ABI != 1
#define expect_pair(answer, first, second) expect_pair_at(__LINE__, answer, first, second)
void expect_pair_at(uint32_t line, struct answer answer, uint32_t first, uint32_t second);
#define expect_refused(answer, error, first, second)                                               \
    expect_refused_at(__LINE__, answer, error, first, second)
void expect_refused_at(uint32_t line, struct answer answer, uint32_t error, uint32_t first,
                       uint32_t second);
#endif

/* registers.S */
bool registers_lost(const uint32_t words[5], uint32_t turns);

#endif
