/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Reads of the console, for the groups console and awake. The other end of the line sends bytes
 * when a line of output asks for them: 0, 1, 2 and so on. The simulator does; where nothing comes,
 * the rows are skipped.
 */
#ifndef TM_APPS_INPUT_H
#define TM_APPS_INPUT_H

#include "alarm.h"
#include "bench.h"
#include "reading.h"

/* Cycles until the first byte: by then the read has begun and the core sleeps. */
#define INPUT_DELAY 12000
enum { ENQUIRY = 5, PATIENCE_MS = 50 };

static struct {
    char bytes[TM_MAX_console_read_size];
    volatile bool over; /* the last read */
    uint32_t status, count;
    struct reading ended; /* when its upcall ran */
    uint32_t counter;     /* version 1: the counter that is being measured */
} input;

static void on_input(uint32_t status, uint32_t count, uint32_t zero, void *userdata) {
    input.ended = take_reading(input.counter);
    (void)zero, (void)userdata;
    input.status = status;
    input.count = count;
    input.over = true;
}

/* Put a number and a space, and return their end. */
static char *put_decimal(char *to, uint32_t number) {
    char digits[10];
    int count = 0;
    do
        digits[count++] = (char)('0' + number % 10);
    while (number /= 10);
    while (count)
        *to++ = digits[--count];
    *to++ = ' ';
    return to;
}

/* Ask for bytes, one each `pace` cycles (0: as fast as the UART is set), after a while. */
static void ask_for_input(uint32_t count, uint32_t pace) {
    static char text[40]; /* in RAM, which version 1 requires */
    char *end = text;
    *end++ = ENQUIRY;
    end = put_decimal(end, count);
    end = put_decimal(end, pace);
    end = put_decimal(end, INPUT_DELAY);
    end[-1] = '\n';
    tm_console_write(text, end - text);
}

static inline struct tock_return start_read(uint32_t count) {
    input.over = false;
    return tock_command(TOCK_CONSOLE, TOCK_CONSOLE_READ, count, 0);
}

/* Are these the first bytes that were asked for? */
static bool came(struct tm_run *run, uint32_t first, uint32_t count) {
    bool good = input.status == 0 && input.count == count;
    for (uint32_t i = 0; i < count; i++)
        good &= input.bytes[i] == (char)(first + i);
    return tm_verify(run, good);
}

static void on_patience(uint32_t now, uint32_t due, uint32_t zero, void *userdata) {
    (void)now, (void)due, (void)zero;
    *(volatile bool *)userdata = true;
}

/* Find out, once, whether a byte comes that was asked for. */
static bool input_comes(struct tm_run *run) {
    static bool tried, comes;
    volatile bool late = false;
    if (tried)
        return comes || tm_skip(run, "nothing sends to this console");
    tried = true;
    ask_for_input(1, 0);
    if (tock_failed(start_read(1)))
        return tm_skip(run, "this console does not read");
    uint32_t ticks = tm_alarm_frequency().word[0] / 1000 * PATIENCE_MS;
    if (!tm_require(run, "alarm", tm_alarm_subscribe(on_patience, (void *)&late)) ||
        !tm_require(run, "alarm", tm_alarm_after(ticks)))
        return false;
    while (!input.over && !late)
        tock_yield_wait();
    tock_command(TOCK_ALARM, TOCK_ALARM_STOP, 0, 0);
    tm_alarm_subscribe(0, 0);
    comes = input.over;
    if (!comes)
        tock_command(TOCK_CONSOLE, TOCK_CONSOLE_CANCEL, 0, 0);
    return comes ? came(run, 0, 1) : tm_skip(run, "nothing sends to this console");
}

static bool input_setup(struct tm_run *run) {
    return tm_require(run, "allow_rw",
                      tock_allow_rw(TOCK_CONSOLE, TOCK_CONSOLE_READ_BUFFER, input.bytes,
                                    sizeof input.bytes)) &&
           tm_require(run, "subscribe",
                      tock_subscribe(TOCK_CONSOLE, TOCK_CONSOLE_READ, on_input, 0)) &&
           input_comes(run);
}

static bool input_finish(struct tm_run *run) {
    return tm_require(run, "subscribe", tock_subscribe(TOCK_CONSOLE, TOCK_CONSOLE_READ, 0, 0)) &&
           tm_require(run, "allow_rw", tock_allow_rw(TOCK_CONSOLE, TOCK_CONSOLE_READ_BUFFER, 0, 0));
}

#endif
