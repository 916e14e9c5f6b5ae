// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Version 2 of the system-call interface (TRD 104): decodes an `ecall` and puts its result into registers.
//!
//! The class is in a4, the arguments in a0 to a3. A result has up to four words in a0 to a3; the first
//! one gives the types of the others. Each class is one function here. All have the same signature: four
//! argument words in, and [`Next`] out, which selects the process that runs next. [`crate::syscall`]
//! carries out the calls, for both versions.

use crate::abi::{ErrorCode, Return, UpcallId};
use crate::drivers::call::Call;
use crate::kernel::Kernel;
use crate::process::Subscription;
use crate::syscall::Next;
use crate::umem::UserBuffer;

/// The class of system call, in register a4 of an `ecall`.
pub mod class {
    pub const YIELD: u32 = 0;
    pub const SUBSCRIBE: u32 = 1;
    pub const COMMAND: u32 = 2;
    pub const READ_WRITE_ALLOW: u32 = 3;
    pub const READ_ONLY_ALLOW: u32 = 4;
    pub const MEMOP: u32 = 5;
    pub const EXIT: u32 = 6;
    pub const USERSPACE_READABLE_ALLOW: u32 = 7;
}

impl Return {
    /// The words for registers a0 to a3. Words that a variant does not define are zero.
    #[inline(always)]
    pub const fn registers(self) -> [u32; 4] {
        match self {
            Return::Failure(error) => [0, error as u32, 0, 0],
            Return::FailureU32(error, value) => [1, error as u32, value, 0],
            Return::FailurePair(error, first, second) => [2, error as u32, first, second],
            Return::FailureU64(error, value) => [3, error as u32, low(value), high(value)],
            Return::Success => [128, 0, 0, 0],
            Return::U32(value) => [129, value, 0, 0],
            Return::Pair(first, second) => [130, first, second, 0],
            Return::U64(value) => [131, low(value), high(value), 0],
            Return::Triple(first, second, third) => [132, first, second, third],
            Return::U32AndU64(first, second) => [133, first, low(second), high(second)],
        }
    }
}

const fn low(value: u64) -> u32 {
    value as u32
}

const fn high(value: u64) -> u32 {
    (value >> 32) as u32
}

impl Kernel {
    /// Carries out a system call of the current process.
    #[inline(always)]
    pub fn system_call(&mut self, [a, b, c, d, class]: [u32; 5]) -> Next {
        match class {
            class::YIELD => self.class_yield(a, b, c, d),
            class::SUBSCRIBE => self.class_subscribe(a, b, c, d),
            class::COMMAND => self.class_command(a, b, c, d),
            class::READ_WRITE_ALLOW => self.class_read_write_allow(a, b, c, d),
            class::READ_ONLY_ALLOW => self.class_read_only_allow(a, b, c, d),
            class::MEMOP => self.class_memop(a, b, c, d),
            class::EXIT => self.class_exit(a, b, c, d),
            class::USERSPACE_READABLE_ALLOW => {
                self.give(Return::FailurePair(ErrorCode::NoSupport, c, d))
            }
            _ => self.fail(ErrorCode::NoSupport),
        }
    }

    /// Yield returns nothing of its own: afterwards the registers hold the upcall's arguments.
    #[inline(never)]
    fn class_yield(&mut self, kind: u32, first: u32, second: u32, _: u32) -> Next {
        match kind {
            0 => self.yield_no_wait(first),
            1 => self.yield_wait(),
            2 => self.yield_wait_for(UpcallId {
                driver: first,
                number: second,
            }),
            _ => self.fail(ErrorCode::NoSupport),
        }
    }

    #[inline(never)]
    fn class_subscribe(&mut self, driver: u32, number: u32, function: u32, data: u32) -> Next {
        let id = UpcallId { driver, number };
        let new = Subscription {
            function,
            userdata: data,
        };
        let result = match self.process().subscribe(id, new) {
            Ok(old) => Return::Pair(old.function, old.userdata),
            Err(error) => Return::FailurePair(error, function, data),
        };
        self.give(result)
    }

    #[inline(never)]
    fn class_command(&mut self, driver: u32, number: u32, first: u32, second: u32) -> Next {
        self.command(driver, self.command_call(number, [first, second]))
    }

    #[inline(never)]
    fn class_read_write_allow(&mut self, driver: u32, number: u32, at: u32, size: u32) -> Next {
        let new = UserBuffer::new(at, size, &[self.process().ram()]);
        let result = self.read_write_allow(driver, number, new);
        self.give_buffer(result, at, size)
    }

    #[inline(never)]
    fn class_read_only_allow(&mut self, driver: u32, number: u32, at: u32, size: u32) -> Next {
        let process = self.process();
        let new = UserBuffer::new(at, size, &[process.ram(), process.app.flash]);
        let result = self.read_only_allow(driver, number, new);
        self.give_buffer(result, at, size)
    }

    #[inline(never)]
    fn class_memop(&mut self, operation: u32, argument: u32, _: u32, _: u32) -> Next {
        self.memop(operation, argument)
    }

    #[inline(never)]
    fn class_exit(&mut self, kind: u32, code: u32, _: u32, _: u32) -> Next {
        match kind {
            0 => self.terminate(code),
            1 => self.restart_current(),
            _ => return self.fail(ErrorCode::NoSupport),
        }
        Next::Other
    }

    /// Puts a result into the current process's registers.
    #[inline(always)]
    pub fn give(&mut self, result: Return) -> Next {
        self.frame().set_result(result.registers());
        Next::Same
    }

    /// Makes the current process issue the same command again: it is not finished, and others may run first.
    pub fn repeat(&mut self, driver: u32, call: Call) -> Next {
        let [first, second] = call.arguments;
        let frame = self.frame();
        frame.set_result([driver, call.number, first, second]);
        frame.repeat();
        Next::Same
    }

    /// Returns the previous buffer, or on an error the refused one.
    fn give_buffer(&mut self, old: Result<UserBuffer, ErrorCode>, at: u32, size: u32) -> Next {
        self.give(match old {
            Ok(old) => Return::Pair(old.address(), old.length()),
            Err(error) => Return::FailurePair(error, at, size),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_have_the_registers_of_the_interface() {
        use ErrorCode::{Busy, Invalid, NoAck};
        let wide = 0x1_0000_0002; // the low word goes into the lower register
        let cases = [
            (Return::Failure(Busy), [0, 2, 0, 0]),
            (Return::FailureU32(NoAck, 5), [1, 13, 5, 0]),
            (Return::FailurePair(Invalid, 5, 6), [2, 6, 5, 6]),
            (Return::FailureU64(Invalid, wide), [3, 6, 2, 1]),
            (Return::Success, [128, 0, 0, 0]),
            (Return::U32(7), [129, 7, 0, 0]),
            (Return::Pair(7, 8), [130, 7, 8, 0]),
            (Return::U64(wide), [131, 2, 1, 0]),
            (Return::Triple(7, 8, 9), [132, 7, 8, 9]),
            (Return::U32AndU64(7, wide), [133, 7, 2, 1]),
        ];
        for (result, registers) in cases {
            assert_eq!(result.registers(), registers, "{result:?}");
        }
    }
}
