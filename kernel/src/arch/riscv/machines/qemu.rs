// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Earl Grey as QEMU 7.2 models it (machine `opentitan`): the memory map of the CW310, the timer of 2020,
//! and a UART of QEMU's own.

use tock_registers::register_structs;
use tock_registers::registers::{ReadOnly, ReadWrite, WriteOnly};

use super::uart::{Ctrl, FifoCtrl, FifoStatus, Interrupt};

pub const UART_BASE: usize = 0x4000_0000;
/// Further bytes are lost.
pub const UART_FIFO_SIZE: u32 = 16;
/// The numbers of received bytes at which it can interrupt, up to half of the FIFO.
pub const UART_LEVELS: &[u32] = &[1, 4, 8];
/// The interrupt of UART 0 for "all bytes have been sent".
pub const UART_SENT: u32 = 3;
/// Its interrupt for received bytes.
pub const UART_RECEIVED: u32 = 2;
/// Their priority registers are one index lower in QEMU 7.2 than in later versions, so all are set.
pub const UART_PRIORITIES: [usize; 3] = [1, 2, 3];

pub const PLIC_BASE: usize = 0x4800_0000;

pub const TIMER_BASE: usize = 0x4010_0000;
/// QEMU ignores these two: an option of QEMU sets its timer's rate (docs/boards-and-simulator.md).
pub const TIMER_STEP: u32 = 1;
pub const TIMER_CLOCKS: u32 = 50;
/// A moment that is not reached in 35 years. QEMU 7.2 treats later ones as past when it converts them to
/// nanoseconds.
pub const NEVER: u64 = 1 << 50;

/// The UART's clock; QEMU has no other.
pub const PERIPHERAL_CLOCK: u32 = 50_000_000;
pub const BAUD: u64 = 115_200;

register_structs! {
    pub Uart {
        (0x00 => pub intr_state: ReadWrite<u32, Interrupt::Register>),
        (0x04 => pub intr_enable: ReadWrite<u32, Interrupt::Register>),
        (0x08 => _tests),
        (0x10 => pub ctrl: ReadWrite<u32, Ctrl::Register>),
        (0x14 => _status),
        (0x18 => pub rdata: ReadOnly<u32>),
        (0x1C => pub wdata: WriteOnly<u32>),
        (0x20 => pub fifo_ctrl: WriteOnly<u32, FifoCtrl::Register>),
        (0x24 => pub fifo_status: ReadOnly<u32, FifoStatus::Register>),
        (0x28 => @END),
    },
    pub Plic {
        (0x0000000 => pub priority: [ReadWrite<u32>; 180]),
        (0x00002D0 => _reserved0),
        (0x0002000 => pub enable: [ReadWrite<u32>; 6]),
        (0x0002018 => _reserved1),
        (0x0200000 => pub threshold: ReadWrite<u32>),
        (0x0200004 => pub claim: ReadWrite<u32>),
        (0x0200008 => @END),
    },
    pub Timer {
        (0x000 => _alert_test),
        (0x004 => pub ctrl: ReadWrite<u32>),
        (0x008 => _reserved),
        (0x100 => pub cfg: ReadWrite<u32>),
        (0x104 => pub value_low: ReadWrite<u32>),
        (0x108 => pub value_high: ReadWrite<u32>),
        (0x10C => pub compare_low: ReadWrite<u32>),
        (0x110 => pub compare_high: ReadWrite<u32>),
        (0x114 => pub intr_enable: ReadWrite<u32>),
        (0x118 => pub intr_state: ReadWrite<u32>),
        (0x11C => @END),
    }
}
