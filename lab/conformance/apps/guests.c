/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Requests to the neighbours: see guests.h. */
#include "guests.h"

static volatile uint32_t request[2] __attribute__((aligned(8)));
static volatile bool answered, rang;
static volatile uint32_t lent_at, lent_length;

static void on_answer(uint32_t from, uint32_t length, uint32_t address, uint32_t process) {
    if (from != process)
        return;
    answered = true;
    lent_at = address;
    lent_length = length;
}

static void on_alarm(uint32_t first, uint32_t second, uint32_t third, uint32_t userdata) {
    (void)first, (void)second, (void)third, (void)userdata;
    rang = true;
}

static void sleep(void) {
    subscribe(ALARM, 0, on_alarm, 0);
    rang = false;
    command(ALARM, 5, milliseconds(2), 0);
    while (!rang)
        yield();
}

volatile struct lent *ask(uint32_t neighbour, uint32_t what) {
    static const char *const names[NEIGHBOURS] = NEIGHBOUR_NAMES;
    uint32_t process = find_process(names[neighbour]);
    request[0] = REQUEST;
    request[1] = what;
    answered = false;
    subscribe(IPC, process, on_answer, process);
    share(process, request, sizeof request);
    while (refused(notify_service(process)))
        sleep(); /* its queue may be full of another sender's upcalls */
    while (!answered)
        sleep();
    share(process, 0, 0);
    return lent_length < sizeof(struct lent) ? 0 : (volatile struct lent *)lent_at;
}

void stop_neighbours(void) {
    for (uint32_t i = 0; i < NEIGHBOURS; i++)
        ask(i, STOP);
}
