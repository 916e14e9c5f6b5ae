/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The app service: answers each notification by adding one to each word that the client shares, and
 * writes the upcall's arguments after them. It shares nothing until it is asked to.
 */
#include "service.h"
#include "peers.h"
#include "report.h"

const struct identity identity = {"service", 1, 0};

static volatile struct answer got;
static volatile uint32_t notifications;
static volatile uint32_t lent[4] __attribute__((aligned(8)));

static void on_client(uint32_t from, uint32_t length, uint32_t address, uint32_t userdata) {
    got.a0 = from;
    got.a1 = length;
    got.a2 = address;
    got.a3 = userdata;
    notifications++;
}

static void leave(void) {
#if TM_ABI != 1
    call(EXIT, TERMINATE, 0, 0, 0);
#endif
}

static void answer_client(void) {
    volatile struct shared *shared = (volatile struct shared *)got.a2;
    lent[0] = got.a1;
    lent[1] = got.a2;
    lent[2] = got.a3;
    lent[3] = notifications;
    bool readable = got.a1 >= sizeof *shared;
    if (readable)
        shared->word++;
    share(got.a0, lent, sizeof lent);
    notify_client(got.a0);
    if (readable && shared->leave)
        leave();
}

void run(void) {
    /* Earlier notifications are not lost. */
    spin(milliseconds(2));
    be_service(on_client, SERVICE_USERDATA);
    for (;;) {
        uint32_t before = notifications;
        while (notifications == before)
            yield();
        answer_client();
    }
}
