// SPDX-License-Identifier: Apache-2.0 OR MIT

//! A fake machine for tests on a host: its memory is a vector, its UART empties a FIFO, and its clock
//! advances when the core sleeps. Each thread has its own, so tests do not disturb each other.

use super::{Machine, Pending, Source};
use crate::region::Region;
use crate::sharing::WINDOWS;
use std::cell::RefCell;
use std::collections::VecDeque;
use tockmark_perf::Counters;

const FLASH_START: u32 = 0x2003_0000;
const RAM_START: u32 = 0x1000_2000;
const SIZE: u32 = 0x1_0000;

/// The state of the fake machine.
pub struct State {
    pub flash: Vec<u8>,
    pub ram: Vec<u8>,
    /// The flash and the RAM that user mode may access.
    pub protected: (Region, Region),
    /// The buffers that others share with the running process.
    pub windows: [Region; WINDOWS],
    /// The number of writes to either of the two.
    pub pmp_writes: u32,
    pub slice_us: u32,
    pub fault_restarts: u32,
    /// The text that the UART has sent. Below it, the bytes that it has yet to send.
    pub sent: String,
    pub fifo: Vec<u8>,
    pub fifo_size: usize,
    /// The text sent, split at each interrupt for it.
    pub pieces: Vec<String>,
    sent_pending: bool,
    /// The bytes that the UART has received, those that will come, and with how many it interrupts.
    pub received: VecDeque<u8>,
    pub coming: VecDeque<u8>,
    pub awaited: Option<u32>,
    pub now: u64,
    pub timer: Option<u64>,
    pub cycles: u32,
}

impl State {
    fn new() -> State {
        State {
            flash: vec![0xFF; SIZE as usize],
            ram: vec![0; SIZE as usize],
            protected: (Region::EMPTY, Region::EMPTY),
            windows: [Region::EMPTY; WINDOWS],
            pmp_writes: 0,
            slice_us: 10_000,
            fault_restarts: 0,
            sent: String::new(),
            fifo: Vec::new(),
            fifo_size: 128,
            pieces: Vec::new(),
            sent_pending: false,
            received: VecDeque::new(),
            coming: VecDeque::new(),
            awaited: None,
            now: 0,
            timer: None,
            cycles: 0,
        }
    }
}

thread_local! {
    static MACHINE: RefCell<State> = RefCell::new(State::new());
}

/// Resets the machine, so that an earlier kernel of this thread leaves nothing behind.
pub fn reset() {
    MACHINE.set(State::new());
}

/// Reads or changes the machine.
pub fn with<R>(look: impl FnOnce(&mut State) -> R) -> R {
    MACHINE.with_borrow_mut(look)
}

impl State {
    fn drain(&mut self) {
        let piece = String::from_utf8_lossy(&self.fifo).into_owned();
        self.sent.push_str(&piece);
        self.pieces.push(piece);
        self.fifo.clear();
        self.sent_pending = true;
    }

    fn received_pending(&self) -> bool {
        let awaited = self.awaited.map(|bytes| bytes as usize);
        awaited.is_some_and(|bytes| self.received.len() >= bytes)
    }
}

/// The machine of this thread.
pub struct Fake;

impl Machine for Fake {
    const TICKS_PER_SECOND: u32 = 1_000_000;

    fn slice_us() -> u32 {
        with(|machine| machine.slice_us)
    }

    fn fault_restarts() -> u32 {
        with(|machine| machine.fault_restarts)
    }

    fn app_flash() -> Region {
        Region::new(FLASH_START, FLASH_START + SIZE)
    }

    fn app_ram() -> Region {
        Region::new(RAM_START, RAM_START + SIZE)
    }

    /// Panics for an address outside application memory.
    unsafe fn peek(address: u32) -> u8 {
        with(|machine| match address {
            FLASH_START.. => machine.flash[(address - FLASH_START) as usize],
            _ => machine.ram[(address - RAM_START) as usize],
        })
    }

    /// Panics for an address outside the applications' RAM.
    unsafe fn poke(address: u32, value: u8) {
        with(|machine| machine.ram[(address - RAM_START) as usize] = value);
    }

    unsafe fn peek_word(address: u32) -> u32 {
        assert!(address.is_multiple_of(4), "the address is not aligned");
        // Safety: as the caller guarantees.
        u32::from_le_bytes([0, 1, 2, 3].map(|byte| unsafe { Fake::peek(address + byte) }))
    }

    unsafe fn poke_word(address: u32, value: u32) {
        assert!(address.is_multiple_of(4), "the address is not aligned");
        for (byte, value) in (0..).zip(value.to_le_bytes()) {
            // Safety: as the caller guarantees.
            unsafe { Fake::poke(address + byte, value) };
        }
    }

    fn protect(flash: Region, ram: Region) {
        with(|machine| {
            machine.protected = (flash, ram);
            machine.pmp_writes += 1;
        });
    }

    fn open_windows(windows: [Region; WINDOWS]) {
        with(|machine| {
            machine.windows = windows;
            machine.pmp_writes += 1;
        });
    }

    /// Sleeps until the UART has sent its bytes; if it has none, until a byte is received; if none comes,
    /// until the timer is due.
    fn wait_for_interrupt() {
        with(|machine| {
            if !machine.fifo.is_empty() {
                machine.drain();
            } else if let Some(byte) = machine.coming.pop_front() {
                machine.received.push_back(byte);
                machine.received.truncate(machine.fifo_size);
            } else {
                let due = machine.timer.expect("nothing can wake the core");
                machine.now = machine.now.max(due);
            }
        });
    }

    fn pending_interrupts() -> Pending {
        with(|machine| Pending {
            timer: machine.timer.is_some_and(|due| due <= machine.now),
            external: machine.sent_pending || machine.received_pending(),
        })
    }

    fn claim_interrupt() -> Option<Source> {
        with(|machine| match machine.sent_pending {
            true => Some(Source::UartSent),
            false => machine.received_pending().then_some(Source::UartReceived),
        })
    }

    fn complete_interrupt(_: Source) {}

    fn now() -> u64 {
        with(|machine| machine.now)
    }

    fn set_timer(moment: Option<u64>) {
        with(|machine| machine.timer = moment);
    }

    fn uart_room() -> u32 {
        with(|machine| (machine.fifo_size - machine.fifo.len()) as u32)
    }

    fn uart_put(byte: u8) {
        assert!(Fake::uart_room() > 0, "the FIFO overflows");
        with(|machine| machine.fifo.push(byte));
    }

    fn acknowledge_sent() {
        with(|machine| machine.sent_pending = false);
    }

    fn uart_received() -> u32 {
        with(|machine| machine.received.len() as u32)
    }

    fn uart_get() -> u8 {
        with(|machine| machine.received.pop_front().expect("a byte was received"))
    }

    fn await_input(bytes: u32) -> bool {
        with(|machine| {
            machine.awaited = Some(bytes.min(machine.fifo_size as u32 / 2));
            !machine.received_pending()
        })
    }

    fn ignore_input() {
        with(|machine| machine.awaited = None);
    }

    /// Inverts the text and returns all of it; for task 0, only the head.
    #[cfg(test)]
    fn crypto(job: &mut [u32; crate::drivers::crypto::WORDS]) -> u32 {
        let (head, text) = job.split_at_mut(crate::drivers::crypto::HEAD);
        text.iter_mut().for_each(|word| *word = !*word);
        let length = if head[0] == 0 { 0 } else { head[1] };
        4 * head.len() as u32 + length
    }

    fn print(text: &[u8]) {
        for byte in text.iter().copied() {
            if Fake::uart_room() == 0 {
                with(State::drain);
            }
            Fake::uart_put(byte);
        }
    }
}

/// Reading a counter takes one cycle; the high halves never change.
impl Counters for Fake {
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
