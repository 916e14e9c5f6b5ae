/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The app syscall: one system call in each sample. The bodies are in asm/syscalls.S. */
#include "bench.h"

static uint8_t upcall_ran; /* the kernel's answer to yield-no-wait */

static bool setup_absent(struct tm_run *run) {
    struct tock_return probe = tock_command(TM_ABSENT_DRIVER, 0, 0, 0);
    return tock_failed(probe) || tm_skip(run, "this kernel has the driver that should be absent");
}

static bool finish_absent(struct tm_run *run) {
    uint32_t error = run->shot.result[1];
    return error == TOCK_NODEVICE || tm_fail(run, run->bench->call, tock_error_name(error));
}

static bool setup_yield(struct tm_run *run) {
    upcall_ran = 0xff; /* neither yes nor no */
    run->shot.arg = &upcall_ran;
    return true;
}

static bool finish_yield(struct tm_run *run) { return tm_verify(run, upcall_ran == 0); }

/* The app's flash starts with its header, so before this code. */
static bool finish_memop(struct tm_run *run) {
    uint32_t flash_start = run->shot.result[1];
    return tm_verify(run, flash_start != 0 && flash_start < (uintptr_t)finish_memop);
}

static const struct tm_bench benches[] = {
    {
        .id = "syscall.command",
        .samples = 1000,
        .inner = 1,
        .body = tm_syscall_command,
        .expect = TOCK_SUCCESS_U32_U32,
        .call = "command",
    },
    {
        .id = "syscall.command_absent",
        .samples = 1000,
        .inner = 1,
        .body = tm_syscall_command_absent,
        .expect = TOCK_FAILURE,
        .call = "command",
        .setup = setup_absent,
        .finish = finish_absent,
    },
    {
        .id = "syscall.yield_no_wait",
        .samples = 1000,
        .inner = 1,
        .body = tm_syscall_yield_no_wait,
        .returns_any = true, /* a yield leaves nothing defined in a0 */
        .call = "yield",
        .setup = setup_yield,
        .finish = finish_yield,
    },
    {
        .id = "syscall.memop",
        .samples = 1000,
        .inner = 1,
        .body = tm_syscall_memop,
        .expect = TOCK_SUCCESS_U32,
        .call = "memop",
        .finish = finish_memop,
    },
};

const struct tm_app tm_app = {.name = "syscall", TM_BENCHES(benches)};
