/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Notifies ipc_waiter when it waits. */
#include "app.h"

int main(void) {
    nap_ms(OTHERS_BEGIN_MS);
    uint32_t service = find_app("ipc_waiter");
    printf("notify: status %lu\n", status_of(command(IPC, IPC_NOTIFY_SERVICE, (int)service, 0)));
    return 0;
}
