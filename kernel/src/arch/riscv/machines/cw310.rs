// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Earl Grey on the CW310 (earlgrey_es): addresses and register layouts of its devices, and their clocks.

use tock_registers::register_structs;
use tock_registers::registers::{ReadOnly, ReadWrite, WriteOnly};

use super::uart::{Ctrl, FifoCtrl, FifoStatus, Interrupt};

pub const UART_BASE: usize = 0x4000_0000;
pub const UART_FIFO_SIZE: u32 = 128;
/// The numbers of received bytes at which it can interrupt, up to half of the FIFO.
pub const UART_LEVELS: &[u32] = &[1, 2, 4, 8, 16, 32, 64];
/// The interrupt of UART 0 for "all bytes have been sent".
pub const UART_SENT: u32 = 3;
/// Its interrupt for received bytes.
pub const UART_RECEIVED: u32 = 2;
/// The indexes of their priority registers.
pub const UART_PRIORITIES: [usize; 2] = [UART_RECEIVED as usize, UART_SENT as usize];

pub const PLIC_BASE: usize = 0x4800_0000;

pub const TIMER_BASE: usize = 0x4010_0000;
/// Each tick adds this and takes this many clocks: one tick per microsecond.
pub const TIMER_STEP: u32 = 1;
pub const TIMER_CLOCKS: u32 = 6;
/// A moment that is never reached.
pub const NEVER: u64 = u64::MAX;

pub const PERIPHERAL_CLOCK: u32 = 6_000_000;
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
        (0x0000000 => pub priority: [ReadWrite<u32>; 185]),
        (0x00002E4 => _reserved0),
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
        (0x100 => pub intr_enable: ReadWrite<u32>),
        (0x104 => pub intr_state: ReadWrite<u32>),
        (0x108 => _intr_test),
        (0x10C => pub cfg: ReadWrite<u32>),
        (0x110 => pub value_low: ReadWrite<u32>),
        (0x114 => pub value_high: ReadWrite<u32>),
        (0x118 => pub compare_low: ReadWrite<u32>),
        (0x11C => pub compare_high: ReadWrite<u32>),
        (0x120 => @END),
    }
}
