// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The machine as the rest of the kernel sees it: [`Machine`] is its whole interface. There are three
//! machines: Earl Grey in a build for the board, a fake one in a build for tests on a host, and the lab's
//! stand-in, on which apps for Cortex-M are tested. [`Hardware`] is the machine of this build.

#![allow(unsafe_code)]

#[cfg(target_arch = "riscv32")]
mod riscv;
#[cfg(target_arch = "riscv32")]
pub use riscv::EarlGrey as Hardware;

#[cfg(target_arch = "arm")]
#[path = "../../../lab/stand-in/mod.rs"]
mod cortex_m;
#[cfg(target_arch = "arm")]
pub use cortex_m::StandIn as Hardware;

#[cfg(not(any(target_arch = "riscv32", target_arch = "arm")))]
pub mod host;
#[cfg(not(any(target_arch = "riscv32", target_arch = "arm")))]
pub use host::Fake as Hardware;

use crate::region::Region;
use crate::sharing::WINDOWS;
use tockmark_perf::Counters;

/// What the kernel needs from a machine: application memory, its protection, interrupts, a clock, a UART,
/// and the counters that Perf reads. There is one machine, so no function takes a receiver except the
/// counters, whose trait belongs to Perf.
///
/// Saving a process's registers and entering a process are not part of it: the trap path does that. It
/// calls the kernel, and a host has none.
pub trait Machine: Counters {
    /// Ticks of the clock in a second.
    const TICKS_PER_SECOND: u32;

    /// The word of the image with the length of a time slice in microseconds. 0 selects fixed priority in
    /// the order of flash, without slices.
    fn slice_us() -> u32;

    /// The word of the image with how often a process is restarted after a fault. The next fault stops it
    /// for good.
    fn fault_restarts() -> u32;

    /// The flash that holds applications.
    fn app_flash() -> Region;

    /// The RAM that applications may be given.
    fn app_ram() -> Region;

    /// Reads a byte.
    ///
    /// # Safety
    /// The address must be in application memory.
    unsafe fn peek(address: u32) -> u8;

    /// Writes a byte.
    ///
    /// # Safety
    /// The address must be in the applications' RAM.
    unsafe fn poke(address: u32, value: u8);

    /// Reads a word.
    ///
    /// # Safety
    /// The address must be a multiple of 4, and the word must be in application memory.
    unsafe fn peek_word(address: u32) -> u32;

    /// Writes a word.
    ///
    /// # Safety
    /// The address must be a multiple of 4, and the word must be in the applications' RAM.
    unsafe fn poke_word(address: u32, value: u32);

    /// Opens an application's flash (to read and execute) and RAM (to read and write) to user mode, and
    /// closes the previous application's.
    fn protect(flash: Region, ram: Region);

    /// Opens buffers of other applications to user mode (to read and write), and closes the previous ones.
    fn open_windows(windows: [Region; WINDOWS]);

    /// Sleeps until an interrupt is pending. The core does not take it: interrupts are off in the kernel.
    fn wait_for_interrupt();

    fn pending_interrupts() -> Pending;

    /// Claims the external interrupt and returns its source; None if no source interrupts any more.
    fn claim_interrupt() -> Option<Source>;

    /// Completes the interrupt of that source, which may then interrupt again.
    fn complete_interrupt(source: Source);

    /// The time since the start, in ticks.
    fn now() -> u64;

    /// Sets the timer to interrupt at this moment: never if None, at once if it has passed.
    fn set_timer(moment: Option<u64>);

    /// Converts microseconds to ticks.
    fn ticks(microseconds: u32) -> u64 {
        u64::from(microseconds) * u64::from(Self::TICKS_PER_SECOND) / 1_000_000
    }

    /// Returns the number of bytes that the UART can accept now.
    fn uart_room() -> u32;

    /// Writes a byte to the UART, which must have room for it.
    fn uart_put(byte: u8);

    /// Clears the UART's interrupt, which signals that all bytes have been sent.
    fn acknowledge_sent();

    /// Returns the number of bytes that the UART has received and that were not taken yet.
    fn uart_received() -> u32;

    /// Takes a byte that the UART has received.
    fn uart_get() -> u8;

    /// Makes the UART interrupt when at most this many bytes have been received, a number that it chooses.
    /// Returns false, and it may not interrupt, if they have been already.
    fn await_input(bytes: u32) -> bool;

    /// Makes the UART interrupt no more for input.
    fn ignore_input();

    /// Does a crypto job, whose words `lab/studies/programs/apps/crypto/job.h` describes, and returns the
    /// length of the answer in bytes.
    #[cfg(any(test, feature = "crypto"))]
    fn crypto(job: &mut [u32; crate::drivers::crypto::WORDS]) -> u32;

    /// Prints a line of the kernel; waits for the UART when it is full.
    fn print(text: &[u8]);
}

/// The state of the core's two interrupt lines.
#[derive(Clone, Copy, Debug, Default)]
pub struct Pending {
    pub timer: bool,
    pub external: bool,
}

/// The source of an external interrupt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// The UART has sent all bytes that were written to it.
    UartSent,
    /// The UART has received the bytes that were awaited.
    UartReceived,
    Other(u32),
}
