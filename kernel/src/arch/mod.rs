// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The machine. Everything else in the kernel asks for it by these names only: Earl Grey when built
//! for the board, a fake one of the same shape when built for a host's tests.

#[cfg(target_arch = "riscv32")]
mod riscv;
#[cfg(target_arch = "riscv32")]
pub use riscv::*;

#[cfg(not(target_arch = "riscv32"))]
pub mod host;
#[cfg(not(target_arch = "riscv32"))]
pub use host::*;

/// Which of the two interrupt lines of the core are up.
#[derive(Clone, Copy, Debug, Default)]
pub struct Pending {
    pub timer: bool,
    pub external: bool,
}

/// Who raised an external interrupt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// The UART has sent all that it was given.
    UartSent,
    Other(u32),
}
