// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The exceptions of a Cortex-M and the kernel: copies the registers of the interrupted process from its
//! stack, where the core saved them, into its frame, and copies the next process's registers from its frame to its
//! stack.
//!
//! A frame has each register at the word with the same use in [`Frame`]: pc, lr and sp are words 0 to 2,
//! r0 to r3 words 10 to 13. The lowest bit of pc is set, as in a return address.

use super::{StandIn, TIMER_INTERRUPT};
use crate::arch::Machine;
use crate::frame::Frame;
use crate::kernel::Kernel;
use crate::loader::find_apps;
use crate::syscall::Next;
use core::arch::global_asm;

global_asm!(include_str!("trap.S"));

static mut KERNEL: Kernel = Kernel::new();

/// Returns the kernel's state. Each function that `trap.S` calls must call this once.
///
/// # Safety
/// The caller must have the only reference until it returns to assembly.
unsafe fn kernel() -> &'static mut Kernel {
    let kernel = &raw mut KERNEL;
    // Safety: there is one core, and exceptions do not nest; the caller guarantees the rest.
    unsafe { &mut *kernel }
}

/// The registers that the core saves on a process's stack: r0 to r3, r12, lr, pc, xpsr.
type Saved = [u32; 8];

const LINK: usize = 1;
const STACK: usize = 2;
const STATUS: usize = 3;
const R12: usize = 4;
const R0: usize = 10;
const R4: usize = 14;

/// Bits of xpsr: a padding word follows the saved registers, for alignment to 8 bytes; the code is Thumb.
const PADDED: u32 = 1 << 9;
const THUMB_STATE: u32 = 1 << 24;
/// Bit of a code address: the code is Thumb.
const THUMB: u32 = 1;
/// Bit of lr in an exception: it came from a process, which has its own stack.
const FROM_PROCESS: u32 = 1 << 2;

const SYSTEM_CALL: u32 = 11;
const PENDED: u32 = 14;

#[unsafe(no_mangle)]
extern "C" fn kernel_main() {
    super::set_up();
    // Safety: called once, from `trap.S`, before any process exists.
    let kernel = unsafe { kernel() };
    let flash = StandIn::app_flash();
    let apps = find_apps(super::app_flash_bytes(), flash.start(), StandIn::app_ram());
    kernel.start(&apps);
    kernel.schedule();
}

/// Returns the stack of the next process, with the registers that the core loads from it. Its r4 to r11 are
/// then in `kept`.
#[unsafe(no_mangle)]
extern "C" fn on_trap(
    stack: *mut Saved,
    kept: &mut [u32; 8],
    exception: u32,
    from: u32,
) -> *mut Saved {
    // Safety: called from `trap.S` only, and this is the only reference.
    let kernel = unsafe { kernel() };
    if from & FROM_PROCESS != 0 {
        // Safety: the core has just written it.
        save(kernel.frame(), stack, unsafe { stack.read() }, *kept);
        serve(kernel, exception);
    }
    let frame = kernel.frame();
    kept.copy_from_slice(&frame.words()[R4..R4 + 8]);
    restore(frame)
}

fn serve(kernel: &mut Kernel, exception: u32) {
    match exception {
        SYSTEM_CALL => {
            let words = kernel.frame().words();
            let [a, b, c, d] = [0, 1, 2, 3].map(|argument| words[R0 + argument]);
            let class = class(words[0]);
            if kernel.system_call([a, b, c, d, class]) == Next::Other {
                kernel.schedule();
            }
        }
        PENDED | TIMER_INTERRUPT => kernel.interrupt(),
        other => {
            let (pc, app) = (kernel.frame().pc(), kernel.process().app.name);
            panic!("exception {other} in {app} at 0x{pc:x}");
        }
    }
}

/// Returns the class of a system call, which is in the instruction before the process's pc.
fn class(pc: u32) -> u32 {
    let instruction = (pc & !THUMB) - 2;
    // Safety: the process has just executed this instruction.
    unsafe { u32::from(StandIn::peek(instruction)) }
}

fn save(frame: &mut Frame, stack: *const Saved, saved: Saved, kept: [u32; 8]) {
    let [r0, r1, r2, r3, r12, lr, pc, status] = saved;
    let padding = if status & PADDED != 0 { 4 } else { 0 };
    let words = frame.words_mut();
    words[0] = pc | THUMB;
    words[LINK] = lr;
    words[STACK] = stack.addr() as u32 + size_of::<Saved>() as u32 + padding;
    words[STATUS] = status & !PADDED;
    words[R12] = r12;
    words[R0..R0 + 4].copy_from_slice(&[r0, r1, r2, r3]);
    words[R4..R4 + 8].copy_from_slice(&kept);
}

fn restore(frame: &Frame) -> *mut Saved {
    let words = frame.words();
    let bottom = words[STACK] - size_of::<Saved>() as u32;
    let padded = if bottom & 4 != 0 { PADDED } else { 0 };
    let stack = core::ptr::with_exposed_provenance_mut::<Saved>((bottom & !7) as usize);
    let [r0, r1, r2, r3] = [0, 1, 2, 3].map(|argument| words[R0 + argument]);
    let (pc, status) = (words[0] & !THUMB, words[STATUS] | THUMB_STATE | padded);
    // Safety: memory is not protected here, so the process is trusted that this is its stack.
    unsafe { stack.write([r0, r1, r2, r3, words[R12], words[LINK], pc, status]) };
    stack
}
