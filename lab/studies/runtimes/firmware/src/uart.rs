// SPDX-License-Identifier: Apache-2.0 OR MIT

//! UART 0, sending only, and its interrupt at the end of a line.

use core::ptr::with_exposed_provenance_mut;

const BASE: usize = 0x4000_0000;
const INTR_STATE: usize = BASE;
const INTR_ENABLE: usize = BASE + 0x4;
const CTRL: usize = BASE + 0x10;
const STATUS: usize = BASE + 0x14;
const WDATA: usize = BASE + 0x1c;
const FIFO_STATUS: usize = BASE + 0x24;

const SENT: u32 = 1 << 2; // of both registers of interrupts
const IDLE: u32 = 1 << 3; // of STATUS: all bytes are sent
const ON: u32 = 0x4ea4_0001; // 115200 baud at 6 MHz, sending on
const FIFO: u32 = 128; // bytes

const PLIC: usize = 0x4800_0000;
const SOURCE: u32 = 3; // "all bytes have been sent"
const CLAIM: usize = PLIC + 0x20_0004;

/// Writes a register of a device.
#[inline(always)]
pub fn store(address: usize, value: u32) {
    // Safety: the callers pass addresses of Earl Grey's devices, always mapped.
    unsafe { with_exposed_provenance_mut::<u32>(address).write_volatile(value) }
}

/// Reads a register of a device.
#[inline(always)]
pub fn load(address: usize) -> u32 {
    // Safety: as in `store`.
    unsafe { with_exposed_provenance_mut::<u32>(address).read_volatile() }
}

/// Switches the UART and its interrupt on.
pub fn set_up() {
    store(CTRL, ON);
    store(PLIC + 4 * SOURCE as usize, 1);
    store(PLIC + 0x2000, 1 << SOURCE);
    store(PLIC + 0x20_0000, 0);
}

/// Prints text, and waits until it has been sent.
pub fn print(text: &[u8]) {
    for byte in text {
        while load(FIFO_STATUS) & 0xff >= FIFO {}
        store(WDATA, u32::from(*byte));
    }
    while load(STATUS) & IDLE == 0 {}
}

/// Starts to send a line, which ends with an interrupt.
pub fn send(line: &[u8; 64]) {
    store(INTR_STATE, SENT);
    for byte in line {
        store(WDATA, u32::from(*byte));
    }
    store(INTR_ENABLE, SENT);
}

/// Acknowledges the interrupt at the end of a line.
pub fn acknowledge() {
    let source = load(CLAIM);
    store(INTR_ENABLE, 0);
    store(INTR_STATE, SENT);
    store(CLAIM, source);
}
