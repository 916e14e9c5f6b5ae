/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The console, and the names of errors. */
#include "tock.h"

static const char *const error_names[] = {
    "OK",   "FAIL",   "BUSY",  "ALREADY",   "OFF",      "RESERVE",     "INVAL",
    "SIZE", "CANCEL", "NOMEM", "NOSUPPORT", "NODEVICE", "UNINSTALLED", "NOACK",
};

const char *tock_error_name(uint32_t code) {
    return code < sizeof error_names / sizeof *error_names ? error_names[code] : "UNKNOWN";
}

/* How much of the piece has been written. It is static: the console may keep the upcall. */
static struct {
    bool done;
    uint32_t written;
} completion;

static void written(uint32_t first, uint32_t second, uint32_t third, void *userdata) {
    (void)second;
    (void)third;
    (void)userdata;
    completion.written = first;
    completion.done = true;
}

/* Without a console nothing can be printed, so the error becomes the completion code. */
static void require(struct tock_return returned) {
    if (tock_failed(returned))
        tock_exit(TOCK_EXIT_TERMINATE, returned.word[0]);
}

/* The buffer and the upcall are set again for each piece: a row may have taken them away. */
void tm_console_write(const char *text, uint32_t length) {
    completion.done = false;
    require(tock_allow_ro(TOCK_CONSOLE, TOCK_CONSOLE_WRITE, text, length));
    require(tock_subscribe(TOCK_CONSOLE, TOCK_CONSOLE_WRITE, written, 0));
    require(tock_command(TOCK_CONSOLE, TOCK_CONSOLE_WRITE, length, 0));
    while (!*(volatile bool *)&completion.done)
        tock_yield_wait();
    if (completion.written != length)
        tock_exit(TOCK_EXIT_TERMINATE, length);
}
