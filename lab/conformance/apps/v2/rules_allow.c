/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Read-write and read-only allow. */
#include "rules.h"

const uint32_t foreign[FOREIGN] = {0, 0x8000, 0x20000400, 0x10000800, 0x40000000, 0xfffffff0};

static uint8_t buffer[64];
static const uint8_t constant[64] = {1};

typedef struct answer allow_call(uint32_t driver, uint32_t number, const volatile void *address,
                                 uint32_t length);

static uint32_t at(const volatile void *address) { return (uintptr_t)address; }

/* Allows a buffer, then another one. */
static void check_swap(allow_call *allow) {
    expect_pair(allow(CONSOLE, 1, buffer, 64), 0, 0);
    expect_pair(allow(CONSOLE, 1, buffer + 7, 3), at(buffer), 64);
    expect_pair(allow(CONSOLE, 1, 0, 0), at(buffer + 7), 3);
}

static void check_zero_length(allow_call *allow) {
    uint32_t before = 0;
    for (uint32_t i = 0; i < FOREIGN; i++) {
        expect_pair(allow(CONSOLE, 1, (void *)foreign[i], 0), before, 0);
        before = foreign[i];
    }
    expect_pair(allow(CONSOLE, 1, 0, 0), before, 0);
}

static void check_outside(allow_call *allow) {
    for (uint32_t i = 0; i < FOREIGN; i++)
        expect_refused(allow(CONSOLE, 1, (void *)foreign[i], 4), INVAL, foreign[i], 4);
    uint32_t ram = memop(2, 0).a1;
    expect_refused(allow(CONSOLE, 1, (void *)(ram - 1), 2), INVAL, ram - 1, 2);
}

static void check_wrap(allow_call *allow) {
    uint32_t start = at(buffer);
    expect_refused(allow(CONSOLE, 1, buffer, 0xffffffff), INVAL, start, 0xffffffff);
    expect_refused(allow(CONSOLE, 1, buffer, 0x80000000), INVAL, start, 0x80000000);
    expect_refused(allow(CONSOLE, 1, buffer, -start), INVAL, start, -start);
    expect_refused(allow(CONSOLE, 1, buffer, -start + 4), INVAL, start, -start + 4);
}

static void check_kept(allow_call *allow) {
    allow(CONSOLE, 1, buffer, 32);
    expect_refused(allow(CONSOLE, 1, (void *)foreign[1], 4), INVAL, foreign[1], 4);
    expect_pair(allow(CONSOLE, 1, 0, 0), at(buffer), 32);
}

/* Allows memory up to the break, and one byte more. */
static void check_edge(allow_call *allow) {
    uint32_t end = memop(1, 0).a1;
    expect_pair(allow(CONSOLE, 1, (void *)(end - 8), 8), 0, 0);
    expect_refused(allow(CONSOLE, 1, (void *)(end - 8), 9), INVAL, end - 8, 9);
    expect_refused(allow(CONSOLE, 1, (void *)end, 1), INVAL, end, 1);
    expect_pair(allow(CONSOLE, 1, 0, 0), end - 8, 8);
}

static void check_overlap(allow_call *allow) {
    expect_pair(allow(CONSOLE, 1, buffer, 32), 0, 0);
    expect_pair(allow(CONSOLE, 1, buffer, 64), at(buffer), 32);
    expect_pair(allow(CONSOLE, 1, buffer + 16, 48), at(buffer), 64);
    expect_pair(allow(CONSOLE, 1, 0, 0), at(buffer + 16), 48);
}

static void check_absent(allow_call *allow) {
    expect_refused(allow(ABSENT, 1, buffer, 8), NODEVICE, at(buffer), 8);
    expect_refused(allow(ABSENT, 1, 0, 0), NODEVICE, 0, 0);
}

/* TRD 104 permits two error codes here. */
static void check_number(allow_call *allow) {
    struct answer answer = allow(CONSOLE, 99, buffer, 8);
    expect_true(answer.a1 == NOSUPPORT || answer.a1 == INVAL);
    expect_refused(answer, answer.a1, at(buffer), 8);
}

void check_allow_rw(void) {
    rule("V2-41");
    check_swap(allow_rw);
    rule("V2-42");
    check_zero_length(allow_rw);
    rule("V2-43");
    check_outside(allow_rw);
    expect_refused(allow_rw(CONSOLE, 1, constant, 8), INVAL, at(constant), 8);
    rule("V2-44");
    check_kept(allow_rw);
    rule("V2-45");
    check_wrap(allow_rw);
    rule("V2-46");
    check_edge(allow_rw);
    rule("V2-47");
    check_overlap(allow_rw);
    expect_pair(allow_rw(CONSOLE, 1, buffer, 32), 0, 0);
    expect_pair(allow_ro(CONSOLE, 1, buffer + 8, 32), 0, 0);
    expect_pair(allow_ro(CONSOLE, 1, 0, 0), at(buffer + 8), 32);
    expect_pair(allow_rw(CONSOLE, 1, 0, 0), at(buffer), 32);
    rule("V2-48");
    check_absent(allow_rw);
    rule("V2-49");
    check_number(allow_rw);
}

void check_allow_ro(void) {
    rule("V2-51");
    check_swap(allow_ro);
    rule("V2-52");
    check_zero_length(allow_ro);
    rule("V2-53");
    expect_pair(allow_ro(CONSOLE, 1, constant, 64), 0, 0);
    uint32_t start = memop(4, 0).a1, end = memop(5, 0).a1;
    expect_pair(allow_ro(CONSOLE, 1, (void *)(end - 4), 4), at(constant), 64);
    expect_pair(allow_ro(CONSOLE, 1, 0, 0), end - 4, 4);
    rule("V2-54");
    check_outside(allow_ro);
    expect_refused(allow_ro(CONSOLE, 1, (void *)(end - 4), 5), INVAL, end - 4, 5);
    expect_refused(allow_ro(CONSOLE, 1, (void *)(start - 1), 2), INVAL, start - 1, 2);
    rule("V2-55");
    check_kept(allow_ro);
    rule("V2-56");
    check_wrap(allow_ro);
    check_edge(allow_ro);
    check_overlap(allow_ro);
    rule("V2-57");
    check_absent(allow_ro);
    check_number(allow_ro);
    rule("V2-58");
    allow_rw(CONSOLE, 1, buffer, 16);
    expect_pair(allow_ro(CONSOLE, 1, buffer + 16, 16), 0, 0);
    expect_pair(allow_rw(CONSOLE, 1, 0, 0), at(buffer), 16);
    expect_pair(allow_ro(CONSOLE, 1, 0, 0), at(buffer + 16), 16);
    rule("V2-59");
    struct answer readable = call(ALLOW_READABLE, CONSOLE, 1, at(buffer), 16);
    if (readable.a0 == PAIR)
        expect_pair(readable, 0, 0);
    else
        expect_refused(readable, NOSUPPORT, at(buffer), 16);
}
