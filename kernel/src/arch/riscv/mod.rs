// SPDX-License-Identifier: Apache-2.0 OR MIT

//! OpenTitan Earl Grey: an Ibex core with its counters, its PMP and its interrupts, and the few
//! devices that the kernel uses.

#[cfg(feature = "open-counters")]
mod counters;
#[cfg(not(feature = "abi-v1"))]
mod events;
#[cfg_attr(feature = "nexysvideo", path = "machines/nexysvideo.rs")]
#[cfg_attr(feature = "earlgrey-2021", path = "machines/earlgrey_2021.rs")]
#[cfg_attr(feature = "qemu", path = "machines/qemu.rs")]
#[cfg_attr(
    not(any(feature = "nexysvideo", feature = "earlgrey-2021", feature = "qemu")),
    path = "machines/cw310.rs"
)]
mod machine;
mod plic;
mod pmp;
mod timer;
mod trap;
mod uart;

use super::{Machine, Pending, Source};
use crate::region::Region;
use crate::say;
use crate::sharing::WINDOWS;
use riscv::register::{mcycle, mcycleh, mie, minstret, minstreth, mip};
use tockmark_perf::Counters;

/// Tools find this symbol to identify the kernel in an image: version, interface, machine, and the
/// opt-level that Cargo built it with.
#[used]
#[unsafe(no_mangle)]
#[unsafe(link_section = ".rodata.provenance")]
static TOCKMARK_KERNEL: [u8; PROVENANCE.len()] = *PROVENANCE.as_bytes().as_array().unwrap();
const PROVENANCE: &str = concat!(
    "tockmark-baseline ",
    env!("CARGO_PKG_VERSION"),
    " ",
    env!("TOCKMARK_VARIANT"),
    "\0"
);

/// See [`Machine::slice_us`]. A word of the image; tools find this symbol and may patch it.
#[used]
#[unsafe(no_mangle)]
#[unsafe(link_section = ".rodata.provenance")]
static TOCKMARK_SLICE_US: u32 = 10_000;

/// See [`Machine::fault_restarts`]. Tools may also patch it.
#[used]
#[unsafe(no_mangle)]
#[unsafe(link_section = ".rodata.provenance")]
static TOCKMARK_FAULT_RESTARTS: u32 = 0;

/// This machine.
pub struct EarlGrey;

impl Machine for EarlGrey {
    const TICKS_PER_SECOND: u32 = timer::TICKS_PER_SECOND;

    fn slice_us() -> u32 {
        image_word(&TOCKMARK_SLICE_US)
    }

    fn fault_restarts() -> u32 {
        image_word(&TOCKMARK_FAULT_RESTARTS)
    }

    fn app_flash() -> Region {
        Region::new(
            (&raw const _sapps).addr() as u32,
            (&raw const _eapps).addr() as u32,
        )
    }

    fn app_ram() -> Region {
        Region::new(
            (&raw const _sappmem).addr() as u32,
            (&raw const _eappmem).addr() as u32,
        )
    }

    unsafe fn peek(address: u32) -> u8 {
        // Safety: application memory is mapped and readable, and has no Rust object; volatile, since
        // applications write to it without the compiler's knowledge.
        unsafe { core::ptr::with_exposed_provenance::<u8>(address as usize).read_volatile() }
    }

    unsafe fn poke(address: u32, value: u8) {
        // Safety: the applications' RAM is mapped and writable, and has no Rust object.
        unsafe {
            core::ptr::with_exposed_provenance_mut::<u8>(address as usize).write_volatile(value);
        }
    }

    unsafe fn peek_word(address: u32) -> u32 {
        // Safety: as in `peek`; the address is aligned.
        unsafe { core::ptr::with_exposed_provenance::<u32>(address as usize).read_volatile() }
    }

    unsafe fn poke_word(address: u32, value: u32) {
        // Safety: as in `poke`; the address is aligned.
        unsafe {
            core::ptr::with_exposed_provenance_mut::<u32>(address as usize).write_volatile(value);
        }
    }

    fn protect(flash: Region, ram: Region) {
        pmp::protect(flash, ram);
    }

    fn open_windows(windows: [Region; WINDOWS]) {
        pmp::open_windows(windows);
    }

    fn wait_for_interrupt() {
        riscv::asm::wfi();
    }

    fn pending_interrupts() -> Pending {
        let pending = mip::read();
        Pending {
            timer: pending.mtimer(),
            external: pending.mext(),
        }
    }

    fn claim_interrupt() -> Option<Source> {
        match plic::claim() {
            0 => None,
            machine::UART_SENT => Some(Source::UartSent),
            machine::UART_RECEIVED => Some(Source::UartReceived),
            other => Some(Source::Other(other)),
        }
    }

    fn complete_interrupt(source: Source) {
        plic::complete(match source {
            Source::UartSent => machine::UART_SENT,
            Source::UartReceived => machine::UART_RECEIVED,
            Source::Other(other) => other,
        });
    }

    fn now() -> u64 {
        timer::now()
    }

    fn set_timer(moment: Option<u64>) {
        timer::set(moment);
    }

    fn uart_room() -> u32 {
        uart::room()
    }

    fn uart_put(byte: u8) {
        uart::put(byte);
    }

    fn acknowledge_sent() {
        uart::acknowledge_sent();
    }

    fn uart_received() -> u32 {
        uart::received()
    }

    fn uart_get() -> u8 {
        uart::get()
    }

    fn await_input(bytes: u32) -> bool {
        uart::await_input(bytes)
    }

    fn ignore_input() {
        uart::ignore_input();
    }

    #[cfg(feature = "crypto")]
    fn crypto(job: &mut [u32; crate::drivers::crypto::WORDS]) -> u32 {
        unsafe extern "C" {
            // build.rs links this: the object that applications also use.
            fn tm_crypto(job: *mut u32) -> u32;
        }
        // Safety: it accesses only this job and its own data, and build.rs makes the stack large enough
        // for it.
        unsafe { tm_crypto(job.as_mut_ptr()) }
    }

    fn print(text: &[u8]) {
        uart::print(text);
    }
}

fn image_word(word: &'static u32) -> u32 {
    // Safety: the address is a reference's; volatile, since tools may have changed the word in the image.
    unsafe { (&raw const *word).read_volatile() }
}

unsafe extern "C" {
    // Symbols of `layout.ld`: only their addresses have a meaning.
    static _sapps: u8;
    static _eapps: u8;
    static _sappmem: u8;
    static _eappmem: u8;
}

/// Returns the flash that holds applications, for reading.
fn app_flash_bytes() -> &'static [u8] {
    // Safety: `layout.ld` puts this range into flash, which is mapped, readable, and never written
    // while the kernel runs.
    unsafe {
        core::slice::from_raw_parts(&raw const _sapps, EarlGrey::app_flash().length() as usize)
    }
}

/// Prepares the machine for user mode. Called once, at the start.
fn set_up() {
    uart::set_up();
    timer::set_up();
    plic::set_up();
    pmp::set_up();
    #[cfg(feature = "open-counters")]
    counters::open();
    // Safety: interrupts stay off in the kernel. They can be taken only once a process runs, and by
    // then the trap vector and the handlers are ready.
    unsafe {
        mie::set_mtimer();
        mie::set_mext();
    }
}

#[panic_handler]
fn panic(info: &core::panic::PanicInfo<'_>) -> ! {
    let message = info.message();
    match info.location() {
        Some(place) => say!("panic: {message} at {}:{}", place.file(), place.line()),
        None => say!("panic: {message}"),
    }
    halt()
}

/// Stops the machine for good.
fn halt() -> ! {
    // Safety: nothing runs after this.
    unsafe {
        mie::clear_mtimer();
        mie::clear_mext();
    }
    loop {
        riscv::asm::wfi();
    }
}

impl Counters for EarlGrey {
    #[inline(always)]
    fn cycles(&self) -> u32 {
        mcycle::read() as u32
    }
    #[inline(always)]
    fn cycles_high(&self) -> u32 {
        mcycleh::read() as u32
    }
    #[inline(always)]
    fn instructions(&self) -> u32 {
        minstret::read() as u32
    }
    #[inline(always)]
    fn instructions_high(&self) -> u32 {
        minstreth::read() as u32
    }
    // Version 1 has no command for these.
    #[cfg(not(feature = "abi-v1"))]
    #[inline(always)]
    fn event(&self, number: u32) -> Option<u64> {
        events::read(number)
    }
    #[cfg(not(feature = "abi-v1"))]
    #[inline(always)]
    fn start_events(&self, mask: u32) -> Option<()> {
        events::start(mask)
    }
}
