// SPDX-License-Identifier: Apache-2.0 OR MIT

//! A stand-in for a Cortex-M board: parts of the baseline kernel on QEMU's machine mps2-an386, to test that
//! apps for Cortex-M work. It is neither Tock nor the baseline. It protects no memory, its cycle counter is
//! fake, and none of its figures has a meaning (docs/boards-and-simulator.md).

mod trap;

use super::{Machine, Pending, Source};
use crate::region::Region;
use crate::say;
use crate::sharing::WINDOWS;
use core::ptr::{with_exposed_provenance, with_exposed_provenance_mut};
use core::sync::atomic::{AtomicBool, AtomicU32, Ordering::Relaxed};
use tockmark_perf::Counters;

/// Tools find this symbol to identify the kernel in an image.
#[used]
#[unsafe(no_mangle)]
#[unsafe(link_section = ".rodata.provenance")]
static TOCKMARK_KERNEL: [u8; PROVENANCE.len()] = *PROVENANCE.as_bytes().as_array().unwrap();
const PROVENANCE: &str = concat!(
    "tockmark-stand-in ",
    env!("CARGO_PKG_VERSION"),
    " ",
    env!("TOCKMARK_VARIANT"),
    "\0"
);

/// Two timers that count down: one is the clock, the other one interrupts.
const CLOCK: usize = 0x4000_0000;
const TIMER: usize = 0x4000_1000;
const TIMER_CTRL: usize = 0x0;
const TIMER_VALUE: usize = 0x4;
const TIMER_RELOAD: usize = 0x8;
const TIMER_CLEAR: usize = 0xC;
const RUNS: u32 = 1 << 0;
const INTERRUPTS: u32 = 1 << 3;
/// The number of the timer's exception: its interrupt is 9, and the core has 16 of its own.
const TIMER_INTERRUPT: u32 = 16 + 9;

const UART: usize = 0x4000_4000;
const UART_DATA: usize = 0x0;
const UART_STATE: usize = 0x4;
const UART_CTRL: usize = 0x8;
const UART_DIVISOR: usize = 0x10;
const FULL: u32 = 1 << 0;
const SENDS: u32 = 1 << 0;

const INTERRUPT_ENABLE: usize = 0xE000_E100;
const INTERRUPT_CONTROL: usize = 0xE000_ED04;
/// Makes an exception pending, for events that have no interrupt of their own.
const PEND: u32 = 1 << 28;

/// When the timer is due; all bits set: never.
static DUE: [AtomicU32; 2] = [AtomicU32::new(NEVER), AtomicU32::new(NEVER)];
const NEVER: u32 = u32::MAX;
/// The clock when it was last read, and how often it has wrapped.
static CLOCK_SEEN: AtomicU32 = AtomicU32::new(0);
static CLOCK_ROUNDS: AtomicU32 = AtomicU32::new(0);
/// The UART has sent its bytes, and this was not reported yet.
static SENT: AtomicBool = AtomicBool::new(false);
/// The fake cycle counter: how often it was read.
static READ: AtomicU32 = AtomicU32::new(0);

fn device(address: usize) -> u32 {
    // Safety: a register of a device that always exists.
    unsafe { with_exposed_provenance::<u32>(address).read_volatile() }
}

fn set_device(address: usize, value: u32) {
    // Safety: as above; the registers used here do not change memory.
    unsafe { with_exposed_provenance_mut::<u32>(address).write_volatile(value) }
}

/// This machine.
pub struct StandIn;

impl Machine for StandIn {
    const TICKS_PER_SECOND: u32 = 25_000_000;

    fn slice_us() -> u32 {
        10_000
    }

    fn fault_restarts() -> u32 {
        0
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
        // Safety: application memory is readable and has no Rust object.
        unsafe { with_exposed_provenance::<u8>(address as usize).read_volatile() }
    }

    unsafe fn poke(address: u32, value: u8) {
        // Safety: the applications' RAM is writable and has no Rust object.
        unsafe { with_exposed_provenance_mut::<u8>(address as usize).write_volatile(value) }
    }

    unsafe fn peek_word(address: u32) -> u32 {
        // Safety: as in `peek`; the address is aligned.
        unsafe { with_exposed_provenance::<u32>(address as usize).read_volatile() }
    }

    unsafe fn poke_word(address: u32, value: u32) {
        // Safety: as in `poke`; the address is aligned.
        unsafe { with_exposed_provenance_mut::<u32>(address as usize).write_volatile(value) }
    }

    /// Nothing is protected.
    fn protect(_flash: Region, _ram: Region) {}

    fn open_windows(_windows: [Region; WINDOWS]) {}

    /// Waits in a loop: an exception that cannot be taken yet would not wake the core.
    fn wait_for_interrupt() {
        loop {
            let pending = StandIn::pending_interrupts();
            if pending.timer || pending.external {
                break;
            }
        }
    }

    fn pending_interrupts() -> Pending {
        let due = DUE.each_ref().map(|half| half.load(Relaxed));
        Pending {
            timer: due != [NEVER; 2] && wide(due) <= StandIn::now(),
            external: SENT.load(Relaxed),
        }
    }

    fn claim_interrupt() -> Option<Source> {
        SENT.load(Relaxed).then_some(Source::UartSent)
    }

    fn complete_interrupt(_: Source) {}

    fn now() -> u64 {
        let clock = !device(CLOCK + TIMER_VALUE);
        if clock < CLOCK_SEEN.swap(clock, Relaxed) {
            CLOCK_ROUNDS.fetch_add(1, Relaxed);
        }
        wide([clock, CLOCK_ROUNDS.load(Relaxed)])
    }

    fn set_timer(moment: Option<u64>) {
        let due = moment.unwrap_or(u64::MAX);
        DUE[0].store(due as u32, Relaxed);
        DUE[1].store((due >> 32) as u32, Relaxed);
        set_device(TIMER + TIMER_CTRL, 0);
        set_device(TIMER + TIMER_CLEAR, 1);
        if let Some(moment) = moment {
            // If the moment is beyond the timer's range, the timer is set again when it expires.
            let ticks = moment.saturating_sub(StandIn::now());
            let ticks = u32::try_from(ticks).unwrap_or(u32::MAX).max(1);
            set_device(TIMER + TIMER_VALUE, ticks);
            set_device(TIMER + TIMER_RELOAD, ticks);
            set_device(TIMER + TIMER_CTRL, RUNS | INTERRUPTS);
        }
    }

    /// QEMU sends each byte at once; the number is Earl Grey's.
    fn uart_room() -> u32 {
        128
    }

    fn uart_put(byte: u8) {
        StandIn::print(&[byte]);
        SENT.store(true, Relaxed);
        set_device(INTERRUPT_CONTROL, PEND);
    }

    fn acknowledge_sent() {
        SENT.store(false, Relaxed);
    }

    /// It receives nothing.
    fn uart_received() -> u32 {
        0
    }

    fn uart_get() -> u8 {
        0
    }

    fn await_input(_bytes: u32) -> bool {
        true
    }

    fn ignore_input() {}

    fn print(text: &[u8]) {
        for byte in text {
            while device(UART + UART_STATE) & FULL != 0 {}
            set_device(UART + UART_DATA, u32::from(*byte));
        }
    }
}

fn wide([low, high]: [u32; 2]) -> u64 {
    u64::from(high) << 32 | u64::from(low)
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
    // Safety: `layout.ld` makes this range memory that is never written while the kernel runs.
    unsafe {
        core::slice::from_raw_parts(&raw const _sapps, StandIn::app_flash().length() as usize)
    }
}

/// Prepares the machine for processes. Called once, at the start.
fn set_up() {
    set_device(UART + UART_DIVISOR, 16);
    set_device(UART + UART_CTRL, SENDS);
    set_device(CLOCK + TIMER_RELOAD, u32::MAX);
    set_device(CLOCK + TIMER_VALUE, u32::MAX);
    set_device(CLOCK + TIMER_CTRL, RUNS);
    set_device(INTERRUPT_ENABLE, 1 << (TIMER_INTERRUPT - 16));
}

#[panic_handler]
fn panic(info: &core::panic::PanicInfo<'_>) -> ! {
    let message = info.message();
    match info.location() {
        Some(place) => say!("panic: {message} at {}:{}", place.file(), place.line()),
        None => say!("panic: {message}"),
    }
    loop {
        core::hint::spin_loop();
    }
}

/// A fake: it counts reads, so every sample has the same length, even an empty one.
impl Counters for StandIn {
    fn cycles(&self) -> u32 {
        READ.fetch_add(1, Relaxed)
    }
    fn cycles_high(&self) -> u32 {
        0
    }
    fn instructions(&self) -> u32 {
        0
    }
    fn instructions_high(&self) -> u32 {
        0
    }
}
