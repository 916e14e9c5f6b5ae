// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The saved registers of a process that is not running.

/// A process's registers while the kernel runs: register xN is word N. x0 need not be saved, so its
/// word holds the program counter. `arch/riscv/trap.S` depends on this layout.
#[repr(C)]
pub struct Frame([u32; 32]);

const PC: usize = 0;
const RA: usize = 1;
const SP: usize = 2;
const A0: usize = 10;

/// Bytes of the instruction that makes a system call: `ecall`, or Thumb's `svc`.
const CALL_BYTES: u32 = if cfg!(target_arch = "arm") { 2 } else { 4 };

/// Bytes at the start of a process's RAM that are its first stack. A Cortex-M keeps registers there.
pub const FIRST_STACK: u32 = if cfg!(target_arch = "arm") { 32 } else { 0 };

impl Frame {
    pub const fn new() -> Frame {
        Frame([0; 32])
    }

    /// All 32 words, the program counter first.
    pub fn words(&self) -> &[u32; 32] {
        &self.0
    }

    /// Returns the registers, to be changed.
    #[cfg(any(feature = "open-counters", target_arch = "arm"))]
    pub fn words_mut(&mut self) -> &mut [u32; 32] {
        &mut self.0
    }

    pub fn pc(&self) -> u32 {
        self.0[PC]
    }

    /// Sets a0 to a3.
    #[inline(always)]
    pub fn set_result(&mut self, words: [u32; 4]) {
        self.0[A0..A0 + 4].copy_from_slice(&words);
    }

    /// Sets a0 alone.
    #[inline(always)]
    pub fn set_value(&mut self, word: u32) {
        self.0[A0] = word;
    }

    /// Makes the process execute its system call again.
    pub fn repeat(&mut self) {
        self.0[PC] = self.0[PC].wrapping_sub(CALL_BYTES);
    }

    /// Makes the process call `function` and then return to its current instruction.
    pub fn call(&mut self, function: u32, arguments: [u32; 4]) {
        self.0[RA] = self.0[PC];
        self.0[PC] = function;
        self.set_result(arguments);
    }

    /// Makes the process start at `entry` with this stack.
    pub fn enter(&mut self, entry: u32, stack: u32) {
        self.0[PC] = entry;
        self.0[SP] = stack;
    }
}

impl Default for Frame {
    fn default() -> Frame {
        Frame::new()
    }
}
