/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The system calls that the app hostile tries. Each returns true if the kernel's answer is right.
 */
#include "hostile.h"
#include "peers.h"
#include "report.h"

bool call_with_stack(uint32_t stack); /* hostile.S */

static uint8_t buffer[16];

static bool is_own(uint32_t place) { return place == BREAK || place == RAM_END; }

static bool is_invalid(struct answer answer) {
    return refused(answer) && error_of(answer) == INVAL;
}

/* In version 1 a null address is no error: it takes the buffer back. */
static bool is_handled(struct answer answer, uint32_t address) {
    return TM_ABI == 1 && address == 0 ? !refused(answer) : is_invalid(answer);
}

bool try_allow_rw(uint32_t address, uint32_t place) {
    (void)place;
    return is_handled(allow_rw(CONSOLE, 1, (void *)address, 4), address);
}

bool try_allow_ro(uint32_t address, uint32_t place) {
    (void)place;
    return is_handled(allow_ro(CONSOLE, 1, (void *)address, 1), address);
}

bool try_share(uint32_t address, uint32_t place) {
    (void)place;
    return is_handled(share(find_process("neighbour"), (void *)address, 4), address);
}

bool try_name(uint32_t address, uint32_t place) {
    (void)place;
    return is_invalid(allow_ro(IPC, 0, (void *)address, 4));
}

/* Null is the null upcall. */
bool try_subscribe(uint32_t address, uint32_t place) {
    (void)place;
    struct answer answer = subscribe(ALARM, 0, (upcall *)address, 0);
    return address == 0 ? !refused(answer) : is_invalid(answer);
}

bool try_break(uint32_t address, uint32_t place) {
    uint32_t before = value_of(memop(1, 0));
    struct answer answer = memop(0, address);
    if (is_own(place) || place == RAM_BEHIND) { /* it may have all of its own memory */
        memop(0, before);
        return !refused(answer);
    }
    return refused(answer) && error_of(answer) == NOMEM && value_of(memop(1, 0)) == before;
}

/* A kernel does not report a flag that it could not write. The neighbours would notice a written
 * one. */
bool try_flag(uint32_t address, uint32_t place) {
    (void)place;
#if TM_ABI == 1
    (void)address; /* version 1 has no such yield and ignores a flag */
    subscribe(ALARM, 0, note_upcall, 0);
    forget_upcalls();
    command(ALARM, 5, 10, 0);
    call(YIELD, address, address, address, address);
    return seen.count == 1;
#else
    call(YIELD, NO_WAIT, address, 0, 0);
    return true;
#endif
}

bool try_stack(uint32_t address, uint32_t place) {
    (void)place;
    return call_with_stack(address);
}

static bool is_no_memory(struct answer answer) {
    return refused(answer) && error_of(answer) == NOMEM;
}

static uint32_t at(const volatile void *address) { return (uintptr_t)address; }

static bool unknown_classes(void) {
    static const uint32_t classes[] = {8, 9, 64, 255, 256, 0x80000000, 0xffffffff};
    for (uint32_t i = 0; i < sizeof classes / sizeof *classes; i++) {
        struct answer answer = call(classes[i], 0xffffffff, 0x10001260, 0xdeadbeef, 0x80000000);
        if (!refused(answer) || error_of(answer) != NOSUPPORT)
            return false;
    }
    return true;
}

static bool wrap_rw(void) { return is_invalid(allow_rw(CONSOLE, 1, buffer, -at(buffer) + 8)); }
static bool wrap_ro(void) { return is_invalid(allow_ro(CONSOLE, 1, buffer, 0xffffffff)); }
static bool wrap_last(void) { return is_invalid(allow_ro(CONSOLE, 1, (void *)0xfffffffc, 8)); }
static bool huge(void) { return is_invalid(allow_rw(CONSOLE, 1, buffer, 0x80000000)); }
static bool wrap_name(void) { return is_invalid(allow_ro(IPC, 0, buffer, 0xfffffff0)); }
static bool all_ram(void) { return is_invalid(allow_rw(CONSOLE, 1, (void *)0x10000000, 0x20000)); }
static bool all_flash(void) {
    return is_invalid(allow_ro(CONSOLE, 1, (void *)0x20000000, 0x100000));
}

static bool wrap_share(void) {
    return is_invalid(share(find_process("neighbour"), buffer, -at(buffer)));
}

static bool break_up(void) { return is_no_memory(memop(1, 0x7fffffff)); }
static bool break_down(void) { return is_no_memory(memop(1, 0x80000000)); }
static bool break_wrap(void) { return is_no_memory(memop(1, -place_address(BREAK))); }
static bool break_below(void) {
    return is_no_memory(memop(1, place_address(RAM_BEFORE) - place_address(BREAK)));
}

static bool notify_nobody(void) {
    static const uint32_t nobody[] = {5, 31, 255, 0x80000000, 0xffffffff};
    for (uint32_t i = 0; i < sizeof nobody / sizeof *nobody; i++)
        if (!refused(notify_service(nobody[i])) || !refused(notify_client(nobody[i])))
            return false;
    return true;
}

static bool share_with_nobody(void) {
    return refused(share(5, buffer, 16)) && refused(share(0xffffffff, buffer, 16));
}

/* If a write is longer than its buffer, only the buffer is written. */
static bool long_write(void) {
    allow_ro(CONSOLE, 1, "\n", 1);
    buffer[0] = '\n';
    allow_ro(CONSOLE, 1, buffer, 1);
    subscribe(CONSOLE, 1, note_upcall, 0);
    forget_upcalls();
    command(CONSOLE, 1, 0xffffffff, 0xffffffff);
    yield();
    subscribe(CONSOLE, 1, 0, 0);
    return seen.count == 1 && seen.calls[0].a0 == 1;
}

/* A buffer whose memory is given up while it is being written. */
static bool vanishing_write(void) {
    uint32_t before = place_address(BREAK);
    memop(1, 256);
    allow_ro(CONSOLE, 1, (void *)before, 256);
    command(CONSOLE, 1, 0, 0);
    memop(0, before);
    bool well = !refused(command(CONSOLE, 0, 0, 0));
    allow_ro(CONSOLE, 1, 0, 0);
    return well;
}

static bool far_alarm(void) {
    command(ALARM, 5, 0xffffffff, 0);
    command(ALARM, 6, 0, 0x80000000);
    return !refused(command(ALARM, 3, 0, 0));
}

static bool flood(void) {
    uint32_t process = find_process("neighbour2"), sent = 0;
    while (sent < 100 && !refused(notify_service(process)))
        sent++;
    return sent < 100;
}

static bool garbage_numbers(void) {
    for (uint32_t bits = 0x80000000; bits; bits >>= 1)
        if (!refused(command(bits | 0x40000, bits, bits, bits)) ||
            !refused(subscribe(bits | 0x40000, bits, note_upcall, bits)) ||
            !refused(allow_rw(bits | 0x40000, bits, buffer, 4)) ||
            !refused(allow_ro(bits | 0x40000, bits, buffer, 4)) || !refused(memop(bits | 16, bits)))
            return false;
    return true;
}

static bool (*const calls[N_CALLS])(void) = {
    unknown_classes, wrap_rw,         wrap_ro,     wrap_last,     huge,
    wrap_name,       all_ram,         all_flash,   wrap_share,    break_up,
    break_down,      break_wrap,      break_below, notify_nobody, share_with_nobody,
    long_write,      vanishing_write, far_alarm,   flood,         garbage_numbers,
};
const char *const call_names[N_CALLS] = {
    "unknown-classes", "wrap-rw",         "wrap-ro",     "wrap-last",     "huge",
    "wrap-name",       "all-ram",         "all-flash",   "wrap-share",    "break-up",
    "break-down",      "break-wrap",      "break-below", "notify-nobody", "share-with-nobody",
    "long-write",      "vanishing-write", "far-alarm",   "flood",         "garbage-numbers",
};

bool try_call(uint32_t ignored, uint32_t which) {
    (void)ignored;
    return calls[which]();
}
