// SPDX-License-Identifier: Apache-2.0 OR MIT

//! What the three firmwares share: the counters, the timer and UART 0 of Earl Grey, the records of the
//! protocol, and the samples that all take in the same way.

#![no_std]

pub mod report;
pub mod timer;
pub mod uart;

use core::arch::{asm, global_asm};
use core::future::{Future, poll_fn};
use core::pin::pin;
use core::task::Poll;

// The first instruction, and the marks: functions at whose first instruction the simulator notes the time.
global_asm!(
    ".section .head, \"ax\"",
    "j _start",
    ".macro mark name",
    ".balign 16",
    ".globl tm_mark_\\name",
    "tm_mark_\\name: ret",
    ".endm",
    include_str!("../../apps/marks.inc"),
    ".purgem mark",
);

// Safety: each only returns.
unsafe extern "C" {
    /// A sample starts here.
    pub safe fn tm_mark_arm();
    /// The first task has started.
    pub safe fn tm_mark_first();
    /// An interrupt has reached its handler.
    pub safe fn tm_mark_handler();
    /// An alarm has reached the task that waits.
    pub safe fn tm_mark_task();
    /// The control's start and end.
    pub safe fn tm_mark_null();
}

/// Names a firmware for the tool.
#[macro_export]
macro_rules! named {
    ($name:literal) => {
        const NAME: &str = concat!($name, " opt-level=", env!("TOCKMARK_LEVEL"), "\0");
        // Safety: no other symbol has this name.
        #[unsafe(no_mangle)]
        static TOCKMARK_KERNEL: [u8; NAME.len()] = *NAME.as_bytes().first_chunk().unwrap();
    };
}

/// The options of the run: `struct tm_link` of apps/runtime/bench.h.
#[repr(C)]
pub struct Options {
    apps: u32,
    steady_stop: u32,
    /// The scene of this boot in the catalogue.
    pub scene: u32,
    slot: u32,
    slots: u32,
    most_samples: u32,
    only: u32,
    image: u32,
    boot: [u8; 24],
}

/// The options that the tool put into flash (apps/options.S).
pub fn options() -> &'static Options {
    const OPTIONS: usize = 0x2003_0080; // behind the app's header
    // Safety: the tool writes a pointer to the options there.
    unsafe { *core::ptr::with_exposed_provenance::<&'static Options>(OPTIONS) }
}

/// A read of the counters.
#[derive(Clone, Copy)]
pub struct Reading {
    cycles: u32,
    instret: u32,
}

/// Reads the counters.
#[inline(always)]
pub fn read() -> Reading {
    let (cycles, instret);
    // Safety: it only reads. Memory accesses stay on their side of it.
    unsafe { asm!("csrr {}, mcycle", "csrr {}, minstret", out(reg) cycles, out(reg) instret) };
    Reading { cycles, instret }
}

/// Sets up counters, timer, UART and interrupts; the first task calls it first, after its mark.
pub fn set_up() {
    // Safety: the counters run from here on.
    unsafe { asm!("csrwi mcountinhibit, 0") };
    stack::paint();
    timer::set_up();
    uart::set_up();
    // Safety: each firmware has a handler for both interrupts.
    unsafe {
        riscv::register::mie::set_mtimer();
        riscv::register::mie::set_mext();
        riscv::interrupt::enable();
    }
}

/// Sleeps until an interrupt is pending.
pub fn sleep() {
    riscv::asm::wfi();
}

/// Polls a future once, then drops it.
pub async fn poll_once<F: Future>(future: F) {
    let mut future = pin!(future);
    poll_fn(|context| {
        let _ = future.as_mut().poll(context);
        Poll::Ready(())
    })
    .await;
}

/// The line of 64 bytes of the row `cost.line`: readers of the protocol ignore it.
pub const LINE: &[u8; 64] = b"                                                               \n";

/// The message of this sample: no two are alike.
pub fn message<const WORDS: usize>(sample: u32) -> [u32; WORDS] {
    let mut words = [sample; WORDS];
    words[WORDS - 1] = sample.wrapping_mul(0x9e37_79b9);
    words
}

/// Whether this build gives wrong answers, which its checks must find.
pub const WRONG: bool = cfg!(feature = "wrong");

/// The answer to a message, from both its ends.
pub fn answer(message: &[u32]) -> u32 {
    message.first().unwrap_or(&0) ^ message.last().unwrap_or(&0).rotate_left(1)
}

/// The deepest stack so far.
pub mod stack {
    use core::ptr::with_exposed_provenance_mut;

    const PAINT: u32 = 0x5aa5_a55a;
    const DEPTH: usize = 16 * 1024;
    const SPARE: usize = 64; // for this function itself

    unsafe extern "C" {
        static _stack_start: u8;
    }

    fn top() -> usize {
        (&raw const _stack_start).expose_provenance() & !15
    }

    /// Paints the free part of the stack.
    pub(crate) fn paint() {
        let pointer: usize;
        // Safety: it only reads.
        unsafe { core::arch::asm!("mv {}, sp", out(reg) pointer) };
        for address in (top() - DEPTH..pointer - SPARE).step_by(4) {
            // Safety: nothing uses this part of the stack yet, and no data reach up to it.
            unsafe { with_exposed_provenance_mut::<u32>(address).write_volatile(PAINT) };
        }
    }

    /// Returns how many bytes of the stack were used.
    pub fn deepest() -> u32 {
        let mut address = top() - DEPTH;
        // Safety: it only reads the painted part.
        while unsafe { with_exposed_provenance_mut::<u32>(address).read_volatile() } == PAINT {
            address += 4;
        }
        (top() - address) as u32
    }
}

/// A panic ends the boot: the tool knows this function.
#[panic_handler]
fn panic(_: &core::panic::PanicInfo) -> ! {
    loop {
        sleep();
    }
}
