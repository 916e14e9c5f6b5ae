/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Memop. */
#include "rules.h"

static uint32_t get(uint32_t operation) {
    struct answer answer = memop(operation, 0);
    expect(answer.a0, ONE);
    return answer.a1;
}

static uint32_t app_break(void) { return memop(1, 0).a1; }

static void check_break(void) {
    uint32_t first = app_break();

    rule("V2-60");
    expect(memop(0, first + 64).a0, SUCCESS);
    expect(app_break(), first + 64);

    rule("V2-61");
    volatile uint32_t *new = (volatile uint32_t *)((first + 3) & ~3u);
    *new = 0x12345678;
    expect(*new, 0x12345678);

    rule("V2-62");
    expect_error(memop(0, memop(3, 0).a1 + 4), NOMEM);
    expect_error(memop(0, 0xffffffff), NOMEM);
    expect(app_break(), first + 64);

    rule("V2-63");
    expect_error(memop(0, memop(2, 0).a1 - 4), NOMEM);
    expect_error(memop(0, 0), NOMEM);
    expect(app_break(), first + 64);

    rule("V2-64");
    struct answer up = memop(1, 32);
    expect(up.a0, ONE);
    expect(up.a1, first + 64);
    struct answer down = memop(1, -96);
    expect(down.a0, ONE);
    expect(down.a1, first + 96);
    expect(app_break(), first);

    rule("V2-65");
    static const uint32_t too_much[] = {0x7fffffff, 0x80000000, 0x10000, -0x20000};
    for (uint32_t i = 0; i < sizeof too_much / sizeof *too_much; i++)
        expect_error(memop(1, too_much[i]), NOMEM);
    expect(app_break(), first);
}

static void check_places(void) {
    uint32_t here, code = (uintptr_t)check_places;

    rule("V2-66");
    uint32_t start = get(2), end = get(3);
    expect_true(start <= (uintptr_t)&here && (uintptr_t)&here < end);
    expect_true(start <= app_break() && app_break() <= end);

    rule("V2-67");
    expect_true(get(4) < code && code < get(5));

    rule("V2-68");
    expect_true(app_break() <= get(6) && get(6) <= end);

    rule("V2-69");
    expect(get(7), 0); /* the header has no writeable regions */
    expect_error(memop(8, 0), FAIL);
    expect_error(memop(9, 0), FAIL);

    rule("V2-70");
    expect(memop(10, (uintptr_t)&here).a0, SUCCESS);
    expect(memop(11, app_break()).a0, SUCCESS);

    rule("V2-71");
    expect_error(memop(12, 0), NOSUPPORT);
    expect_error(memop(0xffffffff, 0), NOSUPPORT);
}

void check_memop(void) {
    check_break();
    check_places();
}
