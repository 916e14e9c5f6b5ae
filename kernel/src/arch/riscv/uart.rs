// SPDX-License-Identifier: Apache-2.0 OR MIT

//! UART 0. A register access takes about 20 cycles, so the level of a FIFO is read once per piece of text,
//! not once per byte.

use super::machine::{self, Uart};
use tock_registers::interfaces::{Readable, Writeable};
use tock_registers::register_bitfields;

register_bitfields![u32,
    pub Interrupt [
        /// All bytes have been sent. Stays set until 1 is written to it.
        SENT OFFSET(2) NUMBITS(1) [],
        /// The number of received bytes has risen to the level in FIFO_CTRL. Also stays set.
        RECEIVED OFFSET(1) NUMBITS(1) [],
    ],
    pub Ctrl [
        TX OFFSET(0) NUMBITS(1) [],
        RX OFFSET(1) NUMBITS(1) [],
        NCO OFFSET(16) NUMBITS(16) [],
    ],
    pub FifoCtrl [
        RX_RESET OFFSET(0) NUMBITS(1) [],
        TX_RESET OFFSET(1) NUMBITS(1) [],
        /// An index of UART_LEVELS.
        RX_LEVEL OFFSET(2) NUMBITS(3) [],
    ],
    pub FifoStatus [
        TX_LEVEL OFFSET(0) NUMBITS(8) [],
        RX_LEVEL OFFSET(16) NUMBITS(8) [],
    ],
];

const FIFO_SIZE: u32 = machine::UART_FIFO_SIZE;
/// The baud rate in the form that the oscillator needs: 2^20 × baud / clock.
const NCO: u32 = ((machine::BAUD << 20) / machine::PERIPHERAL_CLOCK as u64) as u32;

fn registers() -> &'static Uart {
    // Safety: on this machine UART 0's registers are at this address, always mapped, with this
    // layout.
    unsafe { &*core::ptr::with_exposed_provenance(machine::UART_BASE) }
}

pub fn set_up() {
    let uart = registers();
    uart.ctrl
        .write(Ctrl::NCO.val(NCO) + Ctrl::TX::SET + Ctrl::RX::SET);
    uart.fifo_ctrl
        .write(FifoCtrl::RX_RESET::SET + FifoCtrl::TX_RESET::SET);
    uart.intr_state.write(Interrupt::SENT::SET);
    uart.intr_enable.write(Interrupt::SENT::SET);
}

/// Returns the number of bytes that the UART can accept now.
pub fn room() -> u32 {
    FIFO_SIZE.saturating_sub(registers().fifo_status.read(FifoStatus::TX_LEVEL))
}

/// Writes a byte to the UART, which must have room for it.
pub fn put(byte: u8) {
    registers().wdata.set(u32::from(byte));
}

/// Clears the interrupt, which signals that all bytes have been sent.
pub fn acknowledge_sent() {
    registers().intr_state.write(Interrupt::SENT::SET);
}

/// Returns the number of bytes that were received and not taken yet.
pub fn received() -> u32 {
    registers().fifo_status.read(FifoStatus::RX_LEVEL)
}

/// Takes a byte, which must have been received.
pub fn get() -> u8 {
    registers().rdata.get() as u8
}

/// See [`crate::arch::Machine::await_input`]. The interrupt is for the rise to the level, so bytes that came
/// before do not cause it.
pub fn await_input(bytes: u32) -> bool {
    let uart = registers();
    let above = machine::UART_LEVELS.iter().filter(|level| **level <= bytes);
    let index = above.count().saturating_sub(1) as u32;
    uart.fifo_ctrl.write(FifoCtrl::RX_LEVEL.val(index));
    uart.intr_state.write(Interrupt::RECEIVED::SET);
    uart.intr_enable
        .write(Interrupt::SENT::SET + Interrupt::RECEIVED::SET);
    received() < machine::UART_LEVELS[index as usize]
}

/// Disables the interrupt for received bytes.
pub fn ignore_input() {
    let uart = registers();
    uart.intr_enable.write(Interrupt::SENT::SET);
    uart.intr_state.write(Interrupt::RECEIVED::SET);
}

/// Prints text; waits for the UART when it is full.
pub fn print(text: &[u8]) {
    for piece in text.chunks(FIFO_SIZE as usize / 2) {
        while room() < piece.len() as u32 {}
        piece.iter().for_each(|byte| put(*byte));
    }
}
