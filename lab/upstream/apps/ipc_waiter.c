/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* A service that waits for its notification with yield-wait-for. */
#include "app.h"

static void note(int first, int second, int third, void *userdata) {
    (void)first;
    (void)second;
    (void)third;
    (void)userdata;
}

int main(void) {
    uint32_t own = find_app("ipc_waiter");
    if (!subscribe(IPC, own, note, NULL).success)
        return 1;
    printf("yield-wait-for a notification ...\n");
    yield_wait_for(IPC, own);
    printf("notified\n");
    return 0;
}
