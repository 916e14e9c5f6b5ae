/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The records of an app in a scene: see report.h. */
#include "report.h"
#include "protocol.h"

#define TEXT_OF(token) #token
#define TEXT(macro) TEXT_OF(macro)

static const uint32_t magic = 0x6b657074;

static volatile bool written;

static void on_written(uint32_t first, uint32_t second, uint32_t third, uint32_t userdata) {
    (void)first, (void)second, (void)third, (void)userdata;
    written = true;
}

/* Write a line and leave the console as if it had never been used. */
static void write_line(const char *line, uint32_t length) {
    written = false;
    allow_ro(CONSOLE, 1, line, length);
    subscribe(CONSOLE, 1, on_written, 0);
    command(CONSOLE, 1, length, 0);
    while (!written)
        yield();
    subscribe(CONSOLE, 1, 0, 0);
    allow_ro(CONSOLE, 1, 0, 0);
}

static struct tm_out out = {.write = write_line};

volatile struct seen seen;

/* The begin record is printed together with the first record after it, so that the first checks see
 * an unused console. */
struct tm_out *begin_record(const char *kind) {
    if (out.seq == 0) {
        tm_record(&out, "begin proto=1 lang=c abi=" TEXT(TM_ABI));
        tm_record_number(&out, "apps", identity.reporters);
        tm_record_end(&out);
    }
    tm_record(&out, kind);
    return &out;
}

void end_record(void) {
    tm_record_end(&out);
    kept.seq = out.seq;
}

__attribute__((weak)) void before_record(void) {}

void say(const char *kind, const char *words, struct number first, struct number second) {
    before_record();
    begin_record(kind);
    tm_record_words(&out, words);
    if (first.key)
        tm_record_number(&out, first.key, first.value);
    if (second.key)
        tm_record_number(&out, second.key, second.value);
    end_record();
}

_Noreturn void end_app(void) {
    for (;;) {
#if TM_ABI == 1
        yield();
#else
        call(EXIT, TERMINATE, 0, 0, 0);
#endif
    }
}

_Noreturn void finish(void) {
    before_record();
    begin_record("end ok");
    end_record();
    end_app();
}

void note_upcall(uint32_t first, uint32_t second, uint32_t third, uint32_t userdata) {
    if (seen.count < UPCALLS_KEPT) {
        volatile struct answer *call = &seen.calls[seen.count];
        call->a0 = first;
        call->a1 = second;
        call->a2 = third;
        call->a3 = userdata;
    }
    seen.count++;
}

void forget_upcalls(void) { seen.count = 0; }

int main(void) {
    if (kept.magic != magic) {
        kept.magic = magic;
        kept.starts = 0;
        kept.seq = 0;
        for (uint32_t i = 0; i < sizeof kept.words / sizeof *kept.words; i++)
            kept.words[i] = 0;
    }
    kept.starts++;
    out.seq = kept.seq;
    out.app = identity.second && app_slot ? identity.second : identity.name;
    run();
    return 0;
}
