/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The app syscall: one or two system calls per sample. The bodies are in asm/syscalls.S. */
#include "sharer.h"

static uint8_t upcall_ran; /* the kernel's result of yield-no-wait */
static uint8_t buffer[TM_MAX_syscall_allow_rw_size];
static uint8_t *base; /* the break before the rows that move it */

TM_HEAP(1024);

/* In version 1 the call returns the cycle counter, which was read shortly before this check. */
static bool finish_command(struct tm_run *run) {
    return tm_verify(run, TM_BY_ABI(tm_cycles() - run->shot.result[0] < 1000000, true));
}

static bool setup_absent(struct tm_run *run) {
    struct tock_return probe = tock_command(TM_ABSENT_DRIVER, 0, 0, 0);
    return tock_failed(probe) || tm_skip(run, "this kernel has the driver that should be absent");
}

static bool finish_absent(struct tm_run *run) {
    struct tock_return returned = tock_returned(run->shot.result);
    return returned.word[0] == TOCK_NODEVICE || tm_fail_with(run, run->bench->call, returned);
}

static bool setup_yield(struct tm_run *run) {
    upcall_ran = 0xff; /* neither yes nor no */
    run->shot.arg = &upcall_ran;
    return true;
}

static bool finish_yield(struct tm_run *run) { return tm_verify(run, upcall_ran == 0); }

static bool setup_subscribe(struct tm_run *run) {
    run->shot.arg = (void *)(uintptr_t)tm_upcall_count;
    return true;
}

/* Check that the second call returned what the first one set; version 1 does not return it. */
static bool took_back(struct tm_run *run, uintptr_t given) {
    return tm_verify(run, TM_BY_ABI(true || given, run->shot.result[1] == given));
}

static bool finish_subscribe(struct tm_run *run) {
    return took_back(run, (uintptr_t)tm_upcall_count);
}

static bool setup_allow(struct tm_run *run) {
    static struct tm_allow allow;
    allow = (struct tm_allow){buffer, run->value[0]};
    run->shot.arg = &allow;
    return true;
}

static bool finish_allow(struct tm_run *run) { return took_back(run, (uintptr_t)buffer); }

/* The app's flash begins with its header, so before this code. */
static bool finish_memop(struct tm_run *run) {
    uint32_t flash_start = tock_returned(run->shot.result).word[0];
    return tm_verify(run, flash_start != 0 && flash_start < (uintptr_t)finish_memop);
}

static bool setup_break(struct tm_run *run) {
    base = tock_more_ram(0);
    run->shot.arg = base + 8;
    return base || tm_fail(run, "sbrk", "UNKNOWN");
}

/* Each sample moves the break from the same address, so a row needs RAM for one move only. */
static bool before_break(struct tm_run *run) {
    return tm_require(run, "brk", tock_memop(TOCK_MEMOP_BRK, (uintptr_t)base));
}

static bool finish_break(struct tm_run *run) {
    return tm_verify(run, tock_more_ram(0) == base + 8) && before_break(run);
}

static bool finish_sbrk(struct tm_run *run) {
    return tm_verify(run, tock_returned(run->shot.result).word[0] == (uintptr_t)base) &&
           finish_break(run);
}

static const volatile uint32_t *volatile given; /* the buffer that was shared last */

static void on_share(uint32_t sender, uint32_t length, uint32_t address, void *userdata) {
    static const uint32_t nothing = 0;
    (void)sender, (void)userdata;
    given = length ? (const volatile uint32_t *)(uintptr_t)address : &nothing;
}

/* Ask this many other apps to share, one after the other, and check the word in each buffer. */
static bool setup_regions(struct tm_run *run) {
    for (uint32_t slot = 1; slot <= run->value[0]; slot++) {
        struct tock_return peer = tm_peer_find("sharer", slot);
        if (!tm_require(run, "ipc_discover", peer))
            return false;
        uint32_t sharer = peer.word[0];
        given = 0;
        if (!tm_require(run, "ipc_subscribe", tm_ipc_listen(sharer, on_share)) ||
            !tm_require(run, "ipc_notify", tm_ipc_notify_service(sharer)))
            return false;
        while (!given)
            tock_yield_wait();
        if (!tm_verify(run, *given == SHARER_WORD))
            return false;
    }
    return true;
}

/* The rows that measure the same command, next to different apps. */
#define COMMAND                                                                                    \
    .body = tm_syscall_command, .expect = TM_READ_RETURNS, .returns_any = TM_BY_ABI(true, false),  \
    .call = "command", .finish = finish_command

TM_BENCH(syscall_command, COMMAND);
TM_BENCH(syscall_command_absent, .body = tm_syscall_command_absent,
         .expect = TM_BY_ABI(-TOCK_NODEVICE, TOCK_FAILURE), .call = "command",
         .setup = setup_absent, .finish = finish_absent);
TM_BENCH(syscall_yield_no_wait, .body = TM_BY_ABI(0, tm_syscall_yield_no_wait),
         .returns_any = true, /* a yield leaves a0 undefined */
         .call = "yield", .setup = setup_yield, .finish = finish_yield);
TM_BENCH(syscall_subscribe, .body = tm_syscall_subscribe,
         .expect = TM_BY_ABI(0, TOCK_SUCCESS_U32_U32), .call = "subscribe",
         .setup = setup_subscribe, .finish = finish_subscribe);
TM_BENCH(syscall_allow_ro, .body = TM_BY_ABI(0, tm_syscall_allow_ro),
         .expect = TOCK_SUCCESS_U32_U32, .call = "allow_ro", .setup = setup_allow,
         .finish = finish_allow);
TM_BENCH(syscall_allow_rw, .body = tm_syscall_allow_rw,
         .expect = TM_BY_ABI(0, TOCK_SUCCESS_U32_U32), .call = "allow_rw", .setup = setup_allow,
         .finish = finish_allow);
TM_BENCH(syscall_memop, .body = tm_syscall_memop, .expect = TOCK_SUCCESS_U32,
         .returns_any = TM_BY_ABI(true, false), .call = "memop", .finish = finish_memop);
TM_BENCH(syscall_sbrk, .body = tm_syscall_sbrk, .expect = TOCK_SUCCESS_U32,
         .returns_any = TM_BY_ABI(true, false), .call = "sbrk", .setup = setup_break,
         .before = before_break, .finish = finish_sbrk);
TM_BENCH(syscall_brk, .body = tm_syscall_brk, .expect = TM_BY_ABI(0, TOCK_SUCCESS), .call = "brk",
         .setup = setup_break, .before = before_break, .finish = finish_break);
TM_BENCH(syscall_by_processes, COMMAND);
TM_BENCH(syscall_by_regions, COMMAND, .setup = setup_regions);
TM_APP(syscall);
