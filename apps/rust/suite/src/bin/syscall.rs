// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The app syscall: one or two system calls per sample. The bodies are in asm/syscalls.S.

#![no_std]
#![no_main]

use core::sync::atomic::{AtomicU8, AtomicU32, Ordering::Relaxed};

use suite::rows::{self, syscall_allow_rw};
use suite::{app, benches_syscall, bodies, peer};
use tock::abi::{self, TM_ABSENT_DRIVER};
use tock::ipc::{self, Shared};
use tock::memory::Break;
use tock::runtime::{self, Asm, Buffer, Bytes, Outcome, Run, Stage, Stop};
use tock::{ErrorCode, Kernel, Syscalls, bench, perf};

const V1: bool = cfg!(feature = "abi-v1");
const SIZE: usize = syscall_allow_rw::size::MAX as usize;
const STEP: usize = 8; // bytes that sbrk and brk add to the break

static UPCALL_RAN: AtomicU8 = AtomicU8::new(0); // the kernel's result of yield-no-wait
static BYTES: Bytes<SIZE> = Bytes::new();
static BUFFER: Buffer = Buffer::new();
static BREAK: Stage<Break> = Stage::new();

tock::heap!(1024);

/// The first word of this success; version 1 has only one word, which is not compared.
const fn success(v2: u32) -> u32 {
    if V1 { 0 } else { v2 }
}

/// Returns the word of a successful call.
fn word(run: &Run) -> u32 {
    run.result()[if V1 { 0 } else { 1 }]
}

/// In version 1 the call returns the cycle counter, which was read shortly before this check.
fn finish_command(run: &mut Run) -> Outcome {
    run.verify(!V1 || perf::cycles().wrapping_sub(word(run)) < 1_000_000)
}

fn setup_absent(run: &mut Run) -> Outcome {
    if Kernel::command(TM_ABSENT_DRIVER, 0, 0, 0).check().is_ok() {
        return run.skip(c"this kernel has the driver that should be absent");
    }
    run.measure(bodies::tm_syscall_command_absent, ())
}

fn finish_absent(run: &mut Run) -> Outcome {
    let code = if V1 {
        word(run).wrapping_neg()
    } else {
        word(run)
    };
    match ErrorCode::try_from(code) {
        Ok(ErrorCode::NoDevice) => Ok(()),
        Ok(other) => run.fail_with(c"command", other),
        Err(_) => run.fail(c"command", c"UNKNOWN"),
    }
}

fn setup_yield(run: &mut Run) -> Outcome {
    UPCALL_RAN.store(0xff, Relaxed); // neither yes nor no
    run.measure(body_of::YIELD_NO_WAIT, &UPCALL_RAN)
}

fn finish_yield(run: &mut Run) -> Outcome {
    run.verify(UPCALL_RAN.load(Relaxed) == 0)
}

fn setup_subscribe(run: &mut Run) -> Outcome {
    run.measure(bodies::tm_syscall_subscribe, runtime::counting_upcall())
}

/// Checks that the second call returned what the first one set; version 1 does not return it.
fn took_back(run: &mut Run, given: usize) -> Outcome {
    run.verify(V1 || run.result()[1] as usize == given)
}

fn setup_allow(run: &mut Run, body: Asm) -> Outcome {
    BUFFER.set(&BYTES, run.value(0));
    run.measure(body, &BUFFER)
}

fn finish_allow(run: &mut Run) -> Outcome {
    took_back(run, BYTES.address())
}

/// The app's flash begins with its header, so before this code.
fn finish_memop(run: &mut Run) -> Outcome {
    let start = word(run) as usize;
    run.verify(start != 0 && start < (finish_memop as *const ()).addr())
}

/// Each sample moves the break from the same address, so a row needs RAM for one move only.
fn take_break(run: &mut Run) -> Result<Break, Stop> {
    BREAK.take(run);
    run.require(c"sbrk", Break::take())
}

fn setup_sbrk(run: &mut Run) -> Outcome {
    let end = take_break(run)?;
    BREAK.keep(run, end);
    run.measure(bodies::tm_syscall_sbrk, ())
}

#[cfg(any(not(feature = "calls"), feature = "libtock-rs"))]
fn setup_brk(run: &mut Run) -> Outcome {
    let end = take_break(run)?;
    let to = BREAK.keep(run, end).base() + STEP;
    run.measure(bodies::tm_syscall_brk, to)
}

/// Only the owner of the break may move it to an address.
#[cfg(all(feature = "calls", not(feature = "libtock-rs")))]
fn setup_brk(run: &mut Run) -> Outcome {
    let end = take_break(run)?;
    BREAK.measure(run, suite::calls::brk::<STEP>, end)
}

fn before_break(run: &mut Run) -> Outcome {
    let moved = match BREAK.get(run) {
        Some(end) => end.brk(end.base()),
        None => Err(ErrorCode::BadRVal),
    };
    run.require(c"brk", moved)
}

fn finish_break(run: &mut Run) -> Outcome {
    match BREAK.take(run) {
        Some(mut end) => run.verify(end.sbrk(0) == Ok(end.base() + STEP)),
        None => run.verify(false),
    }
}

fn finish_sbrk(run: &mut Run) -> Outcome {
    let was = word(run) as usize;
    let base = BREAK.get(run).map(|end| end.base());
    run.verify(base == Some(was))?;
    finish_break(run)
}

const NOTHING: u32 = 0;
const WAITING: u32 = 1; // for another app's buffer
static GIVEN: AtomicU32 = AtomicU32::new(NOTHING); // the first word of the buffer shared last

fn on_share(_sender: u32, shared: Shared<'_>) {
    GIVEN.store(shared.get(0).unwrap_or(NOTHING), Relaxed);
}

/// Asks this many other apps to share, one after the other, and checks the word in each buffer.
fn setup_regions(run: &mut Run) -> Outcome {
    for slot in 1..=run.value(0) {
        let sharer = run.require(c"ipc_discover", peer::find("sharer", slot))?;
        GIVEN.store(WAITING, Relaxed);
        run.require(c"ipc_subscribe", ipc::listen(sharer, &on_share))?;
        run.require(c"ipc_notify", ipc::notify_service(sharer))?;
        while GIVEN.load(Relaxed) == WAITING {
            Kernel::yield_wait();
        }
        run.verify(GIVEN.load(Relaxed) == peer::SHARER_WORD)?;
    }
    run.measure(bodies::tm_syscall_command, ())
}

/// The bodies that only one version of the interface has.
#[cfg(not(feature = "abi-v1"))]
mod body_of {
    use super::{Asm, bodies};
    pub const YIELD_NO_WAIT: Asm = bodies::tm_syscall_yield_no_wait;
    pub const ALLOW_RO: Asm = bodies::tm_syscall_allow_ro;
}
#[cfg(feature = "abi-v1")]
mod body_of {
    use super::Asm;
    pub const YIELD_NO_WAIT: Asm = Asm::EMPTY; // these rows are skipped
    pub const ALLOW_RO: Asm = Asm::EMPTY;
}

/// The rows that measure the same command, next to different apps.
macro_rules! command {
    ($($name:ident $(, $setup:expr)?;)*) => { $(
        bench!($name, body: bodies::tm_syscall_command, expect: perf::READ,
            returns_any: V1, call: c"command", $(setup: $setup,)? finish: finish_command);
    )* };
}

command! {
    syscall_command;
    syscall_by_processes;
    syscall_by_regions, setup_regions;
}
bench!(syscall_command_absent, call: c"command", returns_any: true, setup: setup_absent,
    finish: finish_absent);
bench!(syscall_yield_no_wait, returns_any: true, // a yield leaves a0 undefined
    call: c"yield", setup: setup_yield, finish: finish_yield);
bench!(syscall_subscribe, expect: success(abi::TOCK_SUCCESS_U32_U32), call: c"subscribe",
    setup: setup_subscribe, finish: |run| took_back(run, runtime::counting_upcall()));
bench!(syscall_allow_ro, expect: abi::TOCK_SUCCESS_U32_U32, call: c"allow_ro",
    setup: |run| setup_allow(run, body_of::ALLOW_RO), finish: finish_allow);
bench!(syscall_allow_rw, expect: success(abi::TOCK_SUCCESS_U32_U32), call: c"allow_rw",
    setup: |run| setup_allow(run, bodies::tm_syscall_allow_rw), finish: finish_allow);
bench!(syscall_memop, body: bodies::tm_syscall_memop, expect: abi::TOCK_SUCCESS_U32,
    returns_any: V1, call: c"memop", finish: finish_memop);
bench!(syscall_sbrk, expect: abi::TOCK_SUCCESS_U32, returns_any: V1, call: c"sbrk",
    setup: setup_sbrk, before: before_break,
    finish: finish_sbrk);
bench!(syscall_brk, expect: success(abi::TOCK_SUCCESS), call: c"brk",
    setup: setup_brk, before: before_break,
    finish: finish_break);
app!(c"syscall", benches_syscall!());
