/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The app grants: what a subscribe costs when the app has used more and more drivers of Tock. A
 * driver's first call allocates its grant. The console has one before the first row, since it
 * prints.
 */
#include "bench.h"
#include "growth_rows.h"

enum { AES = 0x40006 };

/* In the order in which Tock's board makes their grants: all before that of AES. */
static const uint32_t drivers[] = {
    0x4 /* GPIO */,    TOCK_ALARM,        0x40003 /* HMAC */,
    0x20003 /* I2C */, 0x20001 /* SPI */, 0x50003 /* key-value */,
    0x40001 /* RNG */,
};
static uint32_t used;

static void on_upcall(uint32_t first, uint32_t second, uint32_t third, void *userdata) {
    (void)first, (void)second, (void)third, (void)userdata;
}

static struct tock_return use(uint32_t driver) {
    struct tock_return done = tock_subscribe(driver, 0, on_upcall, 0);
    return tock_failed(done) ? done : tock_subscribe(driver, 0, 0, 0);
}

static bool setup(struct tm_run *run) {
    run->expect = 2;
    struct tock_return aes = use(AES);
    if (tock_failed(aes) && aes.word[0] == TOCK_NODEVICE)
        return tm_skip(run, "this kernel has no AES driver");
    for (; used < run->value[0]; used++)
        if (!tm_require(run, "subscribe", use(drivers[used])))
            return false;
    return tm_require(run, "subscribe", aes);
}

/* Return how many calls succeeded. */
static uint32_t subscribe_aes(void *arg) {
    (void)arg;
    uint32_t done = !tock_failed(tock_subscribe(AES, 0, on_upcall, 0));
    return done + !tock_failed(tock_subscribe(AES, 0, 0, 0));
}

TM_BENCH(grants_subscribe, .body = subscribe_aes, .setup = setup);
TM_APP(grants);
