// SPDX-License-Identifier: Apache-2.0 OR MIT

//! UART 0, sending only. A register access takes some 20 cycles, so the level of the FIFO is asked
//! for once a piece, not once a byte.

use super::machine::{self, Uart};
use tock_registers::interfaces::{Readable, Writeable};
use tock_registers::register_bitfields;

register_bitfields![u32,
    pub Interrupt [
        /// All that was written has been sent. Stays up until it is cleared by writing it.
        SENT OFFSET(2) NUMBITS(1) [],
    ],
    pub Ctrl [
        TX OFFSET(0) NUMBITS(1) [],
        NCO OFFSET(16) NUMBITS(16) [],
    ],
    pub FifoCtrl [
        RX_RESET OFFSET(0) NUMBITS(1) [],
        TX_RESET OFFSET(1) NUMBITS(1) [],
    ],
    pub FifoStatus [
        TX_LEVEL OFFSET(0) NUMBITS(8) [],
    ],
];

const FIFO_SIZE: u32 = machine::UART_FIFO_SIZE;
/// The baud rate as the oscillator wants it: 2^20 × baud / clock.
const NCO: u32 = ((machine::BAUD << 20) / machine::PERIPHERAL_CLOCK as u64) as u32;

fn registers() -> &'static Uart {
    // Safety: UART 0's registers are at this address on this machine, always mapped, and laid
    // out like that.
    unsafe { &*core::ptr::with_exposed_provenance(machine::UART_BASE) }
}

pub fn set_up() {
    let uart = registers();
    uart.ctrl.write(Ctrl::NCO.val(NCO) + Ctrl::TX::SET);
    uart.fifo_ctrl
        .write(FifoCtrl::RX_RESET::SET + FifoCtrl::TX_RESET::SET);
    uart.intr_state.write(Interrupt::SENT::SET);
    uart.intr_enable.write(Interrupt::SENT::SET);
}

/// How many bytes the UART can take now.
pub fn room() -> u32 {
    FIFO_SIZE.saturating_sub(registers().fifo_status.read(FifoStatus::TX_LEVEL))
}

/// Gives a byte to the UART, which must have room for it.
pub fn put(byte: u8) {
    registers().wdata.set(u32::from(byte));
}

/// Takes back the interrupt that says that all has been sent.
pub fn acknowledge_sent() {
    registers().intr_state.write(Interrupt::SENT::SET);
}

/// Waits for room where there is none.
pub fn print(text: &[u8]) {
    for piece in text.chunks(FIFO_SIZE as usize / 2) {
        while room() < piece.len() as u32 {}
        piece.iter().for_each(|byte| put(*byte));
    }
}
