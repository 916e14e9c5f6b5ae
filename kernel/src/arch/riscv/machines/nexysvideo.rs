// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Earl Grey of 2020, on the study's Nexys Video (OpenTitan 99cb19827): addresses and register layouts of
//! its devices, and their clocks.

use tock_registers::register_structs;
use tock_registers::registers::{ReadOnly, ReadWrite, WriteOnly};

use super::uart::{Ctrl, FifoCtrl, FifoStatus, Interrupt};

pub const UART_BASE: usize = 0x4000_0000;
pub const UART_FIFO_SIZE: u32 = 32;
/// The numbers of received bytes at which it can interrupt, up to half of the FIFO.
pub const UART_LEVELS: &[u32] = &[1, 4, 8, 16];
/// The interrupt of UART 0 for "all bytes have been sent".
pub const UART_SENT: u32 = 35;
/// Its interrupt for received bytes.
pub const UART_RECEIVED: u32 = 34;
/// The indexes of their priority registers.
pub const UART_PRIORITIES: [usize; 2] = [UART_RECEIVED as usize, UART_SENT as usize];

pub const PLIC_BASE: usize = 0x4101_0000;

pub const TIMER_BASE: usize = 0x4010_0000;
/// Each tick adds this and takes this many clocks: a microsecond is not a whole number of clocks, but
/// two microseconds are five.
pub const TIMER_STEP: u32 = 2;
pub const TIMER_CLOCKS: u32 = 5;
/// A moment that is never reached.
pub const NEVER: u64 = u64::MAX;

pub const PERIPHERAL_CLOCK: u32 = 2_500_000;
pub const BAUD: u64 = 115_200;

register_structs! {
    pub Uart {
        (0x00 => pub intr_state: ReadWrite<u32, Interrupt::Register>),
        (0x04 => pub intr_enable: ReadWrite<u32, Interrupt::Register>),
        (0x08 => _intr_test),
        (0x0C => pub ctrl: ReadWrite<u32, Ctrl::Register>),
        (0x10 => _status),
        (0x14 => pub rdata: ReadOnly<u32>),
        (0x18 => pub wdata: WriteOnly<u32>),
        (0x1C => pub fifo_ctrl: WriteOnly<u32, FifoCtrl::Register>),
        (0x20 => pub fifo_status: ReadOnly<u32, FifoStatus::Register>),
        (0x24 => @END),
    },
    pub Plic {
        (0x000 => _pending),
        (0x018 => pub priority: [ReadWrite<u32>; 86]),
        (0x170 => _reserved),
        (0x200 => pub enable: [ReadWrite<u32>; 3]),
        (0x20C => pub threshold: ReadWrite<u32>),
        (0x210 => pub claim: ReadWrite<u32>),
        (0x214 => @END),
    },
    pub Timer {
        (0x000 => pub ctrl: ReadWrite<u32>),
        (0x004 => _reserved),
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
