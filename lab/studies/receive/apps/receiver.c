/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * An app that receives BYTES bytes at one rate after the other, from that with the scene's number
 * on, in reads of 64 bytes. Each byte has its number, so what is missing shows. After each rate it
 * prints how many cycles a byte took on the line, how many bytes came, how many were lost before
 * the last one that came, and how many cycles the core was awake. It ends with the first rate that
 * loses bytes.
 */
#include "alarm.h"
#include "bench.h"
#include "reading.h"

#include <stdio.h>

/* More bytes follow, so that a read ends although bytes were lost. */
enum { BYTES = 768, MORE = 256, READ = 64, START_MS = 5 };

/* Cycles for a byte, 10 bits, at 24 MHz: 115,200 baud, 230,400, 375,000, 500,000 and so on. */
static const uint32_t paces[] = {2083, 1042, 640, 480, 320, 240, 200, 160, 120, 80};
enum { PACES = sizeof paces / sizeof *paces };

static uint8_t bytes[READ];
static volatile bool over;
static uint32_t count;

static void on_read(uint32_t status, uint32_t length, uint32_t zero, void *userdata) {
    (void)status, (void)zero, (void)userdata;
    count = length;
    over = true;
}

static char line[80]; /* static: version 1 requires RAM, and it is not on the stack of the read */

static void say(const char *form, uint32_t a, uint32_t b, uint32_t c, uint32_t d) {
    int length = snprintf(line, sizeof line, form, (unsigned long)a, (unsigned long)b,
                          (unsigned long)c, (unsigned long)d);
    tm_console_write(line, (uint32_t)length);
}

/* Receive at this rate; return how many bytes were lost. */
static uint32_t receive(uint32_t pace) {
    uint32_t came = 0, next = 0, lost = 0;
    say("\005%lu %lu %lu\n", BYTES + MORE, pace, 12000, 0);
    uint32_t begun = take_reading(0).first;
    while (next < BYTES + (lost ? 0 : MORE)) {
        over = false;
        struct tock_return read = tock_command(TOCK_CONSOLE, TOCK_CONSOLE_READ, READ, 0);
        if (tock_failed(read))
            tock_exit(TOCK_EXIT_TERMINATE, read.word[0]);
        while (!over)
            tock_yield_wait();
        for (uint32_t i = 0; i < count; i++, next++) {
            uint32_t missing = (bytes[i] - next) & 0xff;
            lost += missing;
            next += missing;
        }
        came += count;
    }
    say("receive %lu %lu %lu %lu\n", pace, came, lost, take_reading(0).first - begun);
    return lost;
}

int main(void) {
    struct tock_return done = tm_nap(START_MS); /* the other apps start */
    if (!tock_failed(done))
        done = tock_allow_rw(TOCK_CONSOLE, TOCK_CONSOLE_READ_BUFFER, bytes, READ);
    if (!tock_failed(done))
        done = tock_subscribe(TOCK_CONSOLE, TOCK_CONSOLE_READ, on_read, 0);
    if (tock_failed(done))
        return (int)done.word[0];
    for (uint32_t i = tm_link.scene; i < PACES; i++)
        if (receive(paces[i]))
            break;
    say("receive done\n", 0, 0, 0, 0);
    return 0;
}
