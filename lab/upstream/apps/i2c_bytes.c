/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Writes four bytes with the I2C master driver. A trace, or the bus, shows which of them reach the
 * device. */
#include "app.h"

#define I2C_MASTER 0x20003
#define BUFFER 1
#define WRITE 1
#define ADDRESS 0x50

static uint8_t memory[] = {0x11, 0x22, 0x33, 0x44};

int main(void) {
    if (allow_readwrite(I2C_MASTER, BUFFER, memory, sizeof memory).success)
        printf("write: status %lu\n",
               status_of(command(I2C_MASTER, WRITE, ADDRESS, sizeof memory)));
    else
        printf("write: status 11\n"); /* there is no driver */
    return 0;
}
