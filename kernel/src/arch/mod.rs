// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The machine, as everything else in the kernel sees it: [`Machine`] says all that is asked of one.
//! There are three: Earl Grey when built for the board, a fake one of the same shape when built for
//! a host's tests, and the lab's stand-in, on which apps for Cortex-M are tried. [`Hardware`] is the
//! machine of this build.

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

/// What the kernel needs of a machine: application memory, its protection, interrupts, a clock, a UART,
/// and the counters that Perf reads. There is one, so nothing here takes a receiver but the counters,
/// whose trait is Perf's own.
///
/// How a process's registers are saved, and how it is entered, is no part of it: that is the trap path,
/// which calls the kernel and which a host has not.
pub trait Machine: Counters {
    /// Ticks of the clock in a second.
    const TICKS_PER_SECOND: u32;

    /// The word of the image that says how long a time slice is, in microseconds; 0: fixed priority
    /// in the order of flash, without slices.
    fn slice_us() -> u32;

    /// The word that says how often a process that faults is started again; the fault after that stops
    /// it for good.
    fn fault_restarts() -> u32;

    /// The flash that holds applications.
    fn app_flash() -> Region;

    /// The RAM that applications may be given.
    fn app_ram() -> Region;

    /// Reads a byte.
    ///
    /// # Safety
    /// The address must lie in application memory.
    unsafe fn peek(address: u32) -> u8;

    /// Writes a byte.
    ///
    /// # Safety
    /// The address must lie in the applications' RAM.
    unsafe fn poke(address: u32, value: u8);

    /// Reads a word.
    ///
    /// # Safety
    /// The address must be a multiple of 4, and the word lie in application memory.
    unsafe fn peek_word(address: u32) -> u32;

    /// Writes a word.
    ///
    /// # Safety
    /// The address must be a multiple of 4, and the word lie in the applications' RAM.
    unsafe fn poke_word(address: u32, value: u32);

    /// Opens an application's flash (to read and execute) and RAM (to read and write) to user mode, in
    /// the place of the last one's.
    fn protect(flash: Region, ram: Region);

    /// Opens buffers of other applications to user mode (to read and write), in the place of the last
    /// ones.
    fn open_windows(windows: [Region; WINDOWS]);

    /// Sleeps until an interrupt is pending. It is not taken: interrupts are off in the kernel.
    fn wait_for_interrupt();

    fn pending_interrupts() -> Pending;

    /// Who raised the external interrupt, from now on being served; None: nobody does any more.
    fn claim_interrupt() -> Option<Source>;

    /// That source has been served, and may interrupt again.
    fn complete_interrupt(source: Source);

    /// The time in ticks since the start.
    fn now() -> u64;

    /// Interrupts at this moment, or never; at once, if it has passed.
    fn set_timer(moment: Option<u64>);

    /// So many microseconds in ticks.
    fn ticks(microseconds: u32) -> u64 {
        u64::from(microseconds) * u64::from(Self::TICKS_PER_SECOND) / 1_000_000
    }

    /// How many bytes the UART can take now.
    fn uart_room() -> u32;

    /// Gives a byte to the UART, which must have room for it.
    fn uart_put(byte: u8);

    /// Takes back the UART's interrupt, which says that all has been sent.
    fn acknowledge_sent();

    /// Does a job of crypto, whose words `lab/studies/programs/apps/crypto/job.h` describes, and says
    /// how many bytes of it are the answer.
    #[cfg(any(test, feature = "crypto"))]
    fn crypto(job: &mut [u32; crate::drivers::crypto::WORDS]) -> u32;

    /// The kernel's own lines: waits for room where there is none.
    fn print(text: &[u8]);
}

/// Which of the two interrupt lines of the core are up.
#[derive(Clone, Copy, Debug, Default)]
pub struct Pending {
    pub timer: bool,
    pub external: bool,
}

/// Who raised an external interrupt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// The UART has sent all that it was given.
    UartSent,
    Other(u32),
}
