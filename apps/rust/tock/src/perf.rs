// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The Perf capsule: the core's counters, low halves. Only the kernel can read them, so each read costs a
//! command.

#[cfg(not(feature = "abi-v1"))]
use crate::abi::TM_PERF_BOTH;
use crate::abi::{TM_PERF, TM_PERF_CYCLES, TM_PERF_EXISTS, TM_PERF_INSTRET, TM_PERF_UPCALL};
use crate::{ErrorCode, Kernel, Syscalls, Upcall, abi};

/// Driver and command of a read: Perf's; on a Cortex-M CycleCount's, which has only cycles, and their high
/// half instead of instructions.
#[cfg(not(feature = "abi-v1"))]
const READING: (u32, u32) = if cfg!(target_arch = "arm") {
    (abi::TOCK_CYCLE_COUNT, abi::TOCK_CYCLE_COUNT_READ)
} else {
    (TM_PERF, TM_PERF_BOTH)
};
/// The variant of a successful read, in version 2.
pub const READ: u32 = if cfg!(target_arch = "arm") {
    abi::TOCK_SUCCESS_U64
} else {
    abi::TOCK_SUCCESS_U32_U32
};

/// Perf's only upcall.
const UPCALL: u32 = 0;

/// Does this kernel have Perf?
#[inline]
pub fn exists() -> bool {
    Kernel::command(TM_PERF, TM_PERF_EXISTS, 0, 0)
        .check()
        .is_ok()
}

/// Reads cycles and instructions retired at the same moment. Without Perf they are any numbers. Version 1
/// reads one counter per call.
#[cfg(not(feature = "abi-v1"))]
#[inline(always)]
pub fn both() -> (u32, u32) {
    let (_, cycles, instret, _) = Kernel::command(READING.0, READING.1, 0, 0).raw_values();
    (cycles, instret)
}

/// Reads the cycles. Without Perf this is any number.
#[inline(always)]
pub fn cycles() -> u32 {
    counter(TM_PERF_CYCLES)
}

/// Reads the instructions retired. Without Perf this is any number.
#[inline(always)]
pub fn instret() -> u32 {
    counter(TM_PERF_INSTRET)
}

/// Reads the counter of this command: `TM_PERF_CYCLES` or `TM_PERF_INSTRET` of [`crate::abi`].
#[inline(always)]
pub fn counter(command: u32) -> u32 {
    Kernel::command_word(TM_PERF, command, 0, 0)
}

/// Schedules Perf's upcall for the next yield: with cycles and instructions retired, both of now, and this
/// word.
#[inline(always)]
pub fn schedule_upcall(word: u32) -> Result<(), ErrorCode> {
    Kernel::command(TM_PERF, TM_PERF_UPCALL, word, 0).check()
}

/// Subscribes Perf's upcall until it is taken back.
#[inline]
pub fn subscribe_static<U: Upcall>(upcall: &'static U) -> Result<(), ErrorCode> {
    Kernel::subscribe_static(TM_PERF, UPCALL, upcall)
}

/// Takes Perf's upcall back.
#[inline]
pub fn unsubscribe() {
    Kernel::unsubscribe(TM_PERF, UPCALL);
}

/// Sleeps until Perf's upcall is due, and returns its words; no function runs.
#[cfg(not(feature = "abi-v1"))]
#[inline(always)]
pub fn wait_for_upcall() -> (u32, u32, u32) {
    Kernel::yield_wait_for(TM_PERF, UPCALL)
}
