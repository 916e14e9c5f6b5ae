/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Subscribe. */
#include "rules.h"

static volatile uint32_t others;

static void other_upcall(uint32_t first, uint32_t second, uint32_t third, uint32_t userdata) {
    (void)first, (void)second, (void)third, (void)userdata;
    others++;
}

void check_first_use(void) {
    struct answer alarm = subscribe(ALARM, 0, note_upcall, 7);
    struct answer console = subscribe(CONSOLE, 1, 0, 0);
    struct answer rw = allow_rw(CONSOLE, 1, 0, 0);
    struct answer ro = allow_ro(CONSOLE, 1, 0, 0);

    rule("V2-20");
    expect_pair(alarm, 0, 0);
    expect_pair(console, 0, 0);
    rule("V2-40");
    expect_pair(rw, 0, 0);
    rule("V2-50");
    expect_pair(ro, 0, 0);
}

void check_subscribe(void) {
    rule("V2-21");
    expect_pair(subscribe(ALARM, 0, other_upcall, 0xffffffff), (uintptr_t)note_upcall, 7);
    expect_pair(subscribe(ALARM, 0, note_upcall, 9), (uintptr_t)other_upcall, 0xffffffff);

    rule("V2-22");
    expect_pair(subscribe(ALARM, 0, 0, 0), (uintptr_t)note_upcall, 9);
    expect_pair(subscribe(ALARM, 0, 0, 0), 0, 0);

    rule("V2-23");
    forget_upcalls();
    make_upcall_wait();
    subscribe(ALARM, 0, note_upcall, 1);
    set_alarm(1);
    yield();
    expect(seen.count, 1);
    forget_upcalls();

    rule("V2-24");
    make_upcall_wait();
    others = 0;
    subscribe(ALARM, 0, other_upcall, 0);
    expect(poll(), 0);
    expect(others + seen.count, 0);
    make_upcall_wait();
    subscribe(ALARM, 0, 0, 0);
    subscribe(ALARM, 0, note_upcall, 0);
    expect(poll(), 0);
    expect(others + seen.count, 0);

    rule("V2-25");
    for (uint32_t i = 0; i < FOREIGN; i++) {
        if (foreign[i] == 0)
            continue; /* the null upcall */
        struct answer answer = subscribe(ALARM, 0, (upcall *)foreign[i], i);
        expect_refused(answer, INVAL, foreign[i], i);
    }

    rule("V2-26");
    subscribe(ALARM, 0, note_upcall, 11);
    make_upcall_wait();
    expect_refused(subscribe(ALARM, 0, (upcall *)foreign[1], 0), INVAL, foreign[1], 0);
    expect(poll(), 1);
    expect(seen.count, 1);
    expect(seen.calls[0].a3, 11);
    expect_pair(subscribe(ALARM, 0, 0, 0), (uintptr_t)note_upcall, 11);

    rule("V2-27");
    struct answer absent = subscribe(ABSENT, 0, note_upcall, 0);
    expect(absent.a0, FAILURE_PAIR);
    expect(absent.a1, NODEVICE);

    rule("V2-28");
    expect_refused(subscribe(ALARM, 99, note_upcall, 5), NOSUPPORT, (uintptr_t)note_upcall, 5);
    expect_refused(subscribe(CONSOLE, 0xffffffff, note_upcall, 5), NOSUPPORT,
                   (uintptr_t)note_upcall, 5);

    rule("V2-29");
    subscribe(ALARM, 0, note_upcall, 1);
    subscribe(CONSOLE, 1, other_upcall, 2);
    expect_pair(subscribe(ALARM, 0, 0, 0), (uintptr_t)note_upcall, 1);
    expect_pair(subscribe(CONSOLE, 1, 0, 0), (uintptr_t)other_upcall, 2);
}
