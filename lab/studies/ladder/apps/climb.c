/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The code that leader and rivals share: see ladder.h. */
#include "chacha.h"
#include "way.h"

static uint32_t stream[SIZE_MAX_WORDS]; /* the cipher's key stream */
static volatile bool rang;

static void on_alarm(uint32_t now, uint32_t due, uint32_t zero, void *userdata) {
    (void)now, (void)due, (void)zero, (void)userdata;
    rang = true;
}

/* Sleep until this tick. Returns false if it has passed. */
static bool sleep_until(uint32_t tick) {
    uint32_t left = tick - tm_alarm_now();
    if (!left || left > 1U << 31)
        return false;
    rang = false;
    tm_alarm_subscribe(on_alarm, 0);
    if (tock_failed(tm_alarm_after(left)))
        return false;
    while (!rang)
        tock_yield_wait();
    return true;
}

bool climb_begin(void) {
    static const uint32_t known[] = {0xe4e7f110, 0x15593bd1, 0x1fdd0f50, 0xc47120a3};
    chacha_words(stream, SIZE_MAX_WORDS);
    for (uint32_t i = 0; i < sizeof known / sizeof *known; i++)
        if (stream[i] != known[i])
            return false;
    return true;
}

/* All words of all messages of a rung differ, except by chance. */
static uint32_t plain(uint32_t i, uint32_t which) { return 0x9e3779b9 * (i + 1) ^ which << 20; }

static void fill(uint32_t size, uint32_t which) {
    request->kind = ENCRYPT;
    request->client = own_client();
    request->size = size;
    request->good = 0;
    for (uint32_t i = 0; i < size / 4; i++)
        request->words[i] = plain(i, which);
}

static bool is_right(uint32_t size, uint32_t which) {
    uint32_t wrong = !answer->good;
    for (uint32_t i = 0; i < size / 4; i++)
        wrong |= answer->words[i] ^ stream[i] ^ plain(i, which);
    return !wrong;
}

bool climb(const struct rung *rung, struct note notes[EACH], const char **failed) {
    sleep_until(rung->begins);
    for (uint32_t n = 0; n < EACH; n++) {
        uint32_t which = 1 + EACH * own_client() + n;
        fill(rung->size, which);
        uint32_t due = rung->begins + n * rung->period, late = 0;
        if (rung->period && n && !sleep_until(due))
            late = tm_alarm_now() - due;
        if (tock_failed(way_ask(&notes[n].asked, &notes[n].answered))) {
            *failed = "ask";
            return false;
        }
        notes[n].taken = answer->taken;
        notes[n].done = answer->done;
        if (!is_right(rung->size, which)) {
            *failed = "answer";
            return false;
        }
        notes[n].due = n * rung->period * rung->tick;
        notes[n].asked.first -= late * rung->tick; /* it waited for its client's last request */
        notes[n].ready = take_reading(0);
    }
    return true;
}
