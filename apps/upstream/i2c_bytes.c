/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Writes four bytes by the I2C master driver: which reach the device can be seen in a trace. */
#include "say.h"

#define I2C_MASTER 0x20003
#define BUFFER 1
#define WRITE 1
#define ADDRESS 0x50

static uint8_t memory[] = {0x11, 0x22, 0x33, 0x44};

int main(void) {
    tock_allow_rw(I2C_MASTER, BUFFER, memory, sizeof memory);
    say_returned("write: ", tock_command(I2C_MASTER, WRITE, ADDRESS, sizeof memory));
    return 0;
}
