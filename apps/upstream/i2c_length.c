/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Asks the I2C master driver for more bytes than the app allowed it, or than the driver has a
 * buffer for. Which of the two comes first is the scene. */
#include "say.h"

#define I2C_MASTER 0x20003
#define BUFFER 1
#define WRITE 1
#define READ 2
#define ADDRESS 0x50

extern const uint32_t tm_link[]; /* the linker's words; the third is the scene: runtime/crt0.S */

static uint8_t memory[128];

static void try(const char *text, uint32_t allowed, uint32_t command, uint32_t length) {
    tock_allow_rw(I2C_MASTER, BUFFER, memory, allowed);
    say(text);
    say_returned(": ", tock_command(I2C_MASTER, command, ADDRESS, length));
}

int main(void) {
    say_returned("the driver: ", tock_command(I2C_MASTER, 0, 0, 0));
    if (tm_link[2] == 0)
        try("write 5 bytes of 4 allowed", 4, WRITE, 5);
    try("write 65 bytes of 128 allowed", 128, WRITE, 65);
    try("read 5 bytes into 4 allowed", 4, READ, 5);
    try("read 65 bytes into 128 allowed", 128, READ, 65);
    try("write 4 bytes of 4 allowed", 4, WRITE, 4);
    return 0;
}
