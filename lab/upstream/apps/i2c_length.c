/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Asks the I2C master driver for more bytes than the app allowed, and for more than fit into the
 * driver's own buffer. i2c_length_kernel.c skips the first case. */
#include "app.h"

#define I2C_MASTER 0x20003
#define BUFFER 1
#define WRITE 1
#define READ 2
#define ADDRESS 0x50

static uint8_t memory[128];

static void try(const char *text, uint32_t allowed, uint32_t number, uint32_t length) {
    bool lent = allow_readwrite(I2C_MASTER, BUFFER, memory, allowed).success;
    printf("%s: ", text);
    if (lent)
        printf("status %lu\n", status_of(command(I2C_MASTER, number, ADDRESS, (int)length)));
    else
        printf("no buffer\n");
}

int main(void) {
    printf("the driver: status %lu\n", status_of(command(I2C_MASTER, 0, 0, 0)));
#ifndef OWN_BUFFER_IS_LONG
    try("write 5 bytes of 4 allowed", 4, WRITE, 5);
#endif
    try("write 65 bytes of 128 allowed", 128, WRITE, 65);
    try("read 5 bytes into 4 allowed", 4, READ, 5);
    try("read 65 bytes into 128 allowed", 128, READ, 65);
    try("write 4 bytes of 4 allowed", 4, WRITE, 4);
    return 0;
}
