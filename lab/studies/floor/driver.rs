// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The driver Perf as a compiled procedure of paths.inc's COMPILED_PATH; driver.c is its twin in C.
//! It may change only a0 to a3: LLVM's options reserve all other registers
//! (lab/tockmark_lab/trap_cases.py).
#![no_std]

use core::arch::asm;

const PERF: u32 = 0x90010;
const BOTH: u32 = 3;
const UPCALL: u32 = 8;
const FAILURE: u32 = 0;
const SUCCESS: u32 = 128;
const SUCCESS_U32_U32: u32 = 130;
const NOSUPPORT: u32 = 10;
const NODEVICE: u32 = 11;

#[repr(C)]
struct Waiting {
    pending: u32,
    arguments: [u32; 3],
}
const WAITING: *mut Waiting = 0x1000_0040 as *mut Waiting; // PENDING in kernel.inc

/// Returns to after the ecall, with the results; the path put ra into mscratch.
fn leave(first: u32, second: u32, third: u32) -> ! {
    // Safety: this ends the trap, and no Rust value is live.
    unsafe {
        asm!(
            "csrr ra, mepc",
            "addi ra, ra, 4",
            "csrw mepc, ra",
            "csrr ra, mscratch",
            "mret",
            in("a0") first, in("a1") second, in("a2") third, options(noreturn)
        )
    }
}

fn cycles() -> u32 {
    let read;
    // Safety: reads a counter.
    unsafe { asm!("csrr {}, mcycle", out(reg) read, options(nomem, nostack)) }
    read
}

fn instructions() -> u32 {
    let read;
    // Safety: reads a counter.
    unsafe { asm!("csrr {}, minstret", out(reg) read, options(nomem, nostack)) }
    read
}

/// Answers a command.
///
/// # Safety
/// Only a trap of user mode may jump here, with ra in mscratch.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn command(driver: u32, number: u32, argument: u32) -> ! {
    if driver != PERF {
        leave(FAILURE, NODEVICE, 0);
    }
    if number == BOTH {
        let first = cycles();
        leave(SUCCESS_U32_U32, first, instructions());
    }
    if number != UPCALL {
        leave(FAILURE, NOSUPPORT, 0);
    }
    // Safety: the kernel's own RAM, and nothing else runs.
    unsafe {
        (&raw mut (*WAITING).arguments[2]).write_volatile(argument);
        (&raw mut (*WAITING).arguments[0]).write_volatile(cycles());
        (&raw mut (*WAITING).arguments[1]).write_volatile(instructions());
        (&raw mut (*WAITING).pending).write_volatile(1);
    }
    leave(SUCCESS, number, argument)
}

#[panic_handler]
fn panic(_: &core::panic::PanicInfo) -> ! {
    loop {}
}
