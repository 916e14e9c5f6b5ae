// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Earl Grey of 2021-03 (OpenTitan a558aaa3f), whose full RTL is simulated: addresses and register layouts
//! of its devices. Its clocks are as on the study's board.

use tock_registers::register_structs;
use tock_registers::registers::{ReadOnly, ReadWrite, WriteOnly};

use super::uart::{Ctrl, FifoCtrl, FifoStatus, Interrupt};

pub const UART_BASE: usize = 0x4000_0000;
pub const UART_FIFO_SIZE: u32 = 32;
/// The numbers of received bytes at which it can interrupt, up to half of the FIFO.
pub const UART_LEVELS: &[u32] = &[1, 4, 8, 16];
/// The interrupt of UART 0 for "all bytes have been sent".
pub const UART_SENT: u32 = 3;
/// Its interrupt for received bytes.
pub const UART_RECEIVED: u32 = 2;
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
/// The fastest rate, apart from rounding, so that a byte costs the chip's slow simulator few cycles.
pub const BAUD: u64 = 156_000;

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
        (0x030 => pub priority: [ReadWrite<u32>; 177]),
        (0x2F4 => _reserved),
        (0x300 => pub enable: [ReadWrite<u32>; 6]),
        (0x318 => pub threshold: ReadWrite<u32>),
        (0x31C => pub claim: ReadWrite<u32>),
        (0x320 => @END),
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
