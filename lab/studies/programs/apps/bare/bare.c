/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Replaces the kernel for bare programs: it starts the single app in flash in machine mode, with
 * all interrupts off, and never switches the PMP, the mode or the stack again.
 *
 * The app is linked for the same addresses as on a kernel. Between samples its harness uses the
 * same ecalls for console, break and end, which are answered here. A sample has no ecall: the app
 * reads the counters by the core's own instructions (COUNTER=machine of apps/build.mk).
 */
#include "abi.h"
#include <stdint.h>

#define REGISTER(address) (*(volatile uint32_t *)(address))
#define UART_CTRL REGISTER(0x40000010)
#define UART_FIFO_STATUS REGISTER(0x40000024)
#define UART_WDATA REGISTER(0x4000001c)
#define UART_FIFO 32        /* bytes */
#define UART_ON 0x4ea40001U /* 115200 baud at the 6 MHz of its clock, sending on */

#define ECALL_FROM_MACHINE 11

enum { PC, RA, A0 = 10, A1, A2, A3, A4 };

extern const char _sapps[];
extern char _sappmem[], _eappmem[];

/* The tool reads the kernel's name from here. */
const char TOCKMARK_KERNEL[] = "bare (no kernel)";

uint32_t bare_handed[4]; /* the app's a0 to a3 at its start */

static struct {
    const char *text;
    uint32_t length, written;
    uint32_t function, userdata;
    uint32_t is_due;
} console;

/* An unexpected trap. The simulator's user recognizes a panic by this name. */
__attribute__((noreturn, noinline)) void rust_begin_unwind(void) {
    for (;;)
        __asm__ volatile("wfi");
}

/* An app's header is in Tock's binary format: its length at offset 2, then elements of type, length
 * and value. Main or Program gives the app's first instruction. */
uint32_t bare_start(void) {
    UART_CTRL = UART_ON;
    console.is_due = 0; /* nothing has initialised RAM */
    uint32_t header = *(const uint16_t *)(_sapps + 2), at = 16;
    while (at < header) {
        const uint16_t *element = (const uint16_t *)(_sapps + at);
        const uint32_t *words = (const uint32_t *)(element + 2);
        if (element[0] == 1 || element[0] == 9) {         /* Main or Program: same start */
            uint32_t flash = (uint32_t)_sapps + words[1]; /* after the protected part */
            bare_handed[0] = flash;
            bare_handed[1] = (uint32_t)_sappmem;
            bare_handed[2] = (uint32_t)(_eappmem - _sappmem);
            bare_handed[3] = (uint32_t)_eappmem;
            return (uint32_t)_sapps + header + words[0];
        }
        at += 4 + (element[1] + 3U) / 4 * 4;
    }
    rust_begin_unwind();
}

static void print(const char *text, uint32_t length) {
    for (uint32_t i = 0; i < length; i++) {
        while ((UART_FIFO_STATUS & 0xff) >= UART_FIFO)
            ;
        UART_WDATA = (uint8_t)text[i];
    }
}

/* The completion of a write is the only upcall: it returns to after the yield. */
static void yield(uint32_t *frame) {
    if (frame[A0] != TOCK_YIELD_WAIT || !console.is_due)
        rust_begin_unwind(); /* no upcall would ever come */
    console.is_due = 0;
    frame[RA] = frame[PC];
    frame[PC] = console.function;
    frame[A0] = console.written;
    frame[A1] = frame[A2] = 0;
    frame[A3] = console.userdata;
}

static void answer(uint32_t *frame, uint32_t variant, uint32_t first, uint32_t second) {
    frame[A0] = variant;
    frame[A1] = first;
    frame[A2] = second;
}

/* Missing drivers are reported as absent, as on any kernel. */
static void command(uint32_t *frame) {
    if (frame[A0] != TOCK_CONSOLE || frame[A1] != TOCK_CONSOLE_WRITE) {
        answer(frame, TOCK_FAILURE, TOCK_NODEVICE, 0);
        return;
    }
    console.written = frame[A2] < console.length ? frame[A2] : console.length;
    print(console.text, console.written);
    console.is_due = 1;
    answer(frame, TOCK_SUCCESS, 0, 0);
}

void bare_trap(uint32_t *frame, uint32_t cause) {
    if (cause != ECALL_FROM_MACHINE)
        rust_begin_unwind();
    frame[PC] += 4;
    switch (frame[A4]) {
    case TOCK_YIELD:
        yield(frame);
        break;
    case TOCK_COMMAND:
        command(frame);
        break;
    case TOCK_SUBSCRIBE:
        console.function = frame[A2];
        console.userdata = frame[A3];
        answer(frame, TOCK_SUCCESS_U32_U32, 0, 0);
        break;
    case TOCK_ALLOW_RO:
        console.text = (const char *)frame[A2];
        console.length = frame[A3];
        answer(frame, TOCK_SUCCESS_U32_U32, 0, 0);
        break;
    case TOCK_MEMOP:
        answer(frame, TOCK_SUCCESS, 0, 0); /* all of RAM is the app's from the start */
        break;
    case TOCK_EXIT:
        for (;;)
            __asm__ volatile("wfi");
    default:
        rust_begin_unwind();
    }
}
