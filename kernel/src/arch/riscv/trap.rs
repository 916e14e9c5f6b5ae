// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The functions that the trap path's assembly calls. `trap.S` calls each of them with interrupts off;
//! each returns the frame of the process that runs next.

use super::EarlGrey;
use crate::arch::Machine;
use crate::frame::Frame;
use crate::kernel::Kernel;
use crate::loader::find_apps;
use crate::syscall::Next;
use core::arch::global_asm;
use riscv::register::{mcause, mstatus, mtval};

global_asm!(include_str!("start.S"));
global_asm!(include_str!("trap.S"));

static mut KERNEL: Kernel = Kernel::new();

/// Returns the kernel's state. Each function that the trap path calls must call this once.
///
/// # Safety
/// The caller must have the only reference until it returns to assembly.
#[inline(always)]
unsafe fn kernel() -> &'static mut Kernel {
    let kernel = &raw mut KERNEL;
    // Safety: there is one core and interrupts stay off in the kernel, so at most one function of
    // the trap path is running; that function asks once.
    unsafe { &mut *kernel }
}

#[unsafe(no_mangle)]
extern "C" fn kernel_main() -> *mut Frame {
    super::set_up();
    // Safety: called once, from `start.S`, before any process exists that could trap.
    let kernel = unsafe { kernel() };
    let apps = find_apps(
        super::app_flash_bytes(),
        EarlGrey::app_flash().start(),
        EarlGrey::app_ram(),
    );
    kernel.start(&apps);
    kernel.schedule();
    kernel.frame()
}

#[unsafe(no_mangle)]
extern "C" fn on_system_call(
    a0: u32,
    a1: u32,
    a2: u32,
    a3: u32,
    a4: u32,
    frame: *mut Frame,
) -> *mut Frame {
    // Safety: called from `trap.S` only, and `kernel` is the only reference.
    let kernel = unsafe { kernel() };
    match kernel.system_call([a0, a1, a2, a3, a4]) {
        Next::Same => frame,
        Next::Other => {
            kernel.schedule();
            kernel.frame()
        }
    }
}

#[unsafe(no_mangle)]
extern "C" fn on_interrupt() -> *mut Frame {
    if mcause::read().code() == NON_MASKABLE {
        panic!("non-maskable interrupt");
    }
    // Safety: called from `trap.S` only, and this is the only reference.
    let kernel = unsafe { kernel() };
    kernel.interrupt();
    kernel.frame()
}

#[unsafe(no_mangle)]
extern "C" fn on_fault() -> *mut Frame {
    let cause = mcause::read().bits() as u32;
    let value = mtval::read() as u32;
    if mstatus::read().bits() & FROM_MACHINE_MODE != 0 {
        let place = riscv::register::mepc::read();
        panic!("trap in the kernel, mcause=0x{cause:x} mtval=0x{value:x} mepc=0x{place:x}");
    }
    // Safety: called from `trap.S` only, and this is the only reference: a trap from the kernel
    // itself, which might have another one, was handled above.
    let kernel = unsafe { kernel() };
    #[cfg(feature = "open-counters")]
    if cause == ILLEGAL && super::counters::read_for(kernel.frame().words_mut(), value) {
        return kernel.frame();
    }
    kernel.fault(cause, value);
    kernel.frame()
}

/// The bits of mstatus with the mode that a trap came from; zero is user mode.
const FROM_MACHINE_MODE: usize = 3 << 11;

/// The cause of an illegal instruction, which is then in mtval.
#[cfg(feature = "open-counters")]
const ILLEGAL: u32 = 2;

/// The cause of Ibex's non-maskable interrupt.
const NON_MASKABLE: usize = 31;
