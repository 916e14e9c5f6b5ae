// SPDX-License-Identifier: Apache-2.0 OR MIT

//! A fake machine for a host's tests: memory that is a vector, a UART whose FIFO empties and a clock
//! that moves when the core sleeps. Each thread has its own, so tests do not meet.

#![allow(unsafe_code)]

use super::{Pending, Source};
use crate::region::Region;
use crate::sharing::WINDOWS;
use std::cell::RefCell;
use tockmark_perf::Counters;

const FLASH_START: u32 = 0x2003_0000;
const RAM_START: u32 = 0x1000_2000;
const SIZE: u32 = 0x1_0000;

pub struct Machine {
    pub flash: Vec<u8>,
    pub ram: Vec<u8>,
    /// What user mode may reach: flash and RAM.
    pub protected: (Region, Region),
    /// What others share with the process that runs.
    pub windows: [Region; WINDOWS],
    /// How often either was set.
    pub pmp_writes: u32,
    pub slice_us: u32,
    pub fault_restarts: u32,
    /// What the UART has sent, and what it has yet to send.
    pub sent: String,
    pub fifo: Vec<u8>,
    sent_pending: bool,
    pub now: u64,
    pub timer: Option<u64>,
    pub cycles: u32,
}

impl Machine {
    fn new() -> Machine {
        Machine {
            flash: vec![0xFF; SIZE as usize],
            ram: vec![0; SIZE as usize],
            protected: (Region::EMPTY, Region::EMPTY),
            windows: [Region::EMPTY; WINDOWS],
            pmp_writes: 0,
            slice_us: 10_000,
            fault_restarts: 0,
            sent: String::new(),
            fifo: Vec::new(),
            sent_pending: false,
            now: 0,
            timer: None,
            cycles: 0,
        }
    }
}

thread_local! {
    static MACHINE: RefCell<Machine> = RefCell::new(Machine::new());
}

/// The machine after a reset: what an earlier kernel of this thread left is gone.
pub fn reset() {
    MACHINE.set(Machine::new());
}

/// Looks at the machine, or changes it.
pub fn with<R>(look: impl FnOnce(&mut Machine) -> R) -> R {
    MACHINE.with_borrow_mut(look)
}

pub fn app_flash() -> Region {
    Region::new(FLASH_START, FLASH_START + SIZE)
}

pub fn app_ram() -> Region {
    Region::new(RAM_START, RAM_START + SIZE)
}

/// Reads a byte.
///
/// # Safety
/// None needed here: an address outside of application memory panics.
pub unsafe fn peek(address: u32) -> u8 {
    with(|machine| match address {
        FLASH_START.. => machine.flash[(address - FLASH_START) as usize],
        _ => machine.ram[(address - RAM_START) as usize],
    })
}

/// Writes a byte.
///
/// # Safety
/// None needed here: an address outside of the applications' RAM panics.
pub unsafe fn poke(address: u32, value: u8) {
    with(|machine| machine.ram[(address - RAM_START) as usize] = value);
}

pub fn protect(flash: Region, ram: Region) {
    with(|machine| {
        machine.protected = (flash, ram);
        machine.pmp_writes += 1;
    });
}

pub fn open_windows(windows: [Region; WINDOWS]) {
    with(|machine| {
        machine.windows = windows;
        machine.pmp_writes += 1;
    });
}

/// What the words in the image say.
pub fn slice_us() -> u32 {
    with(|machine| machine.slice_us)
}

pub fn fault_restarts() -> u32 {
    with(|machine| machine.fault_restarts)
}

/// Until something happens: the UART has sent what it had, or else the timer is due.
pub fn wait_for_interrupt() {
    with(|machine| {
        if !machine.fifo.is_empty() {
            machine.drain();
        } else {
            let due = machine.timer.expect("nothing can wake the core");
            machine.now = machine.now.max(due);
        }
    });
}

impl Machine {
    fn drain(&mut self) {
        self.sent.push_str(&String::from_utf8_lossy(&self.fifo));
        self.fifo.clear();
        self.sent_pending = true;
    }
}

pub fn pending_interrupts() -> Pending {
    with(|machine| Pending {
        timer: machine.timer.is_some_and(|due| due <= machine.now),
        external: machine.sent_pending,
    })
}

pub fn claim_interrupt() -> Option<Source> {
    with(|machine| machine.sent_pending.then_some(Source::UartSent))
}

pub fn complete_interrupt(_: Source) {}

/// Reading a counter takes a cycle; the high halves stand still.
pub struct Core;

impl Counters for Core {
    fn cycles(&self) -> u32 {
        with(|machine| {
            machine.cycles += 1;
            machine.cycles
        })
    }
    fn cycles_high(&self) -> u32 {
        0
    }
    fn instructions(&self) -> u32 {
        self.cycles()
    }
    fn instructions_high(&self) -> u32 {
        0
    }
}

pub mod uart {
    use super::with;
    use std::fmt;

    const FIFO_SIZE: usize = 128;

    pub fn room() -> u32 {
        with(|machine| (FIFO_SIZE - machine.fifo.len()) as u32)
    }

    pub fn put(byte: u8) {
        assert!(room() > 0, "the FIFO overflows");
        with(|machine| machine.fifo.push(byte));
    }

    pub fn acknowledge_sent() {
        with(|machine| machine.sent_pending = false);
    }

    pub struct Output;

    impl fmt::Write for Output {
        fn write_str(&mut self, text: &str) -> fmt::Result {
            for byte in text.bytes() {
                if room() == 0 {
                    with(super::Machine::drain);
                }
                put(byte);
            }
            Ok(())
        }
    }
}

pub mod timer {
    use super::with;

    pub const TICKS_PER_SECOND: u32 = 1_000_000;

    pub fn ticks(microseconds: u32) -> u64 {
        u64::from(microseconds)
    }

    pub fn now() -> u64 {
        with(|machine| machine.now)
    }

    pub fn set(moment: Option<u64>) {
        with(|machine| machine.timer = moment);
    }
}
