// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The words of the system-call interface, version 2: class numbers, error codes, and how a result
//! is laid out in registers a0 to a3.

/// Register a4 of an `ecall` says what kind of call it is.
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

/// Why a call failed. Only the codes that this kernel gives are listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum ErrorCode {
    Busy = 2,
    Already = 3,
    Invalid = 6,
    NoMemory = 9,
    NoSupport = 10,
    NoDevice = 11,
}

/// The result of a system call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Return {
    Failure(ErrorCode),
    /// A failed subscribe or allow hands back the pair that it was given.
    FailurePair(ErrorCode, u32, u32),
    Success,
    U32(u32),
    Pair(u32, u32),
    U64(u64),
}

impl Return {
    /// The words of registers a0 to a3. Those that a variant does not define are zero.
    #[inline(always)]
    pub const fn registers(self) -> [u32; 4] {
        match self {
            Return::Failure(error) => [0, error as u32, 0, 0],
            Return::FailurePair(error, first, second) => [2, error as u32, first, second],
            Return::Success => [128, 0, 0, 0],
            Return::U32(value) => [129, value, 0, 0],
            Return::Pair(first, second) => [130, first, second, 0],
            Return::U64(value) => [131, value as u32, (value >> 32) as u32, 0],
        }
    }
}

impl From<Result<(), ErrorCode>> for Return {
    fn from(result: Result<(), ErrorCode>) -> Self {
        match result {
            Ok(()) => Return::Success,
            Err(error) => Return::Failure(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_laid_out_as_the_interface_says() {
        assert_eq!(Return::Failure(ErrorCode::Busy).registers()[..2], [0, 2]);
        assert_eq!(
            Return::FailurePair(ErrorCode::Invalid, 5, 6).registers(),
            [2, 6, 5, 6]
        );
        assert_eq!(Return::Success.registers()[0], 128);
        assert_eq!(Return::U32(7).registers()[..2], [129, 7]);
        assert_eq!(Return::Pair(7, 8).registers()[..3], [130, 7, 8]);
        assert_eq!(
            Return::U64(0x1_0000_0002).registers()[..3],
            [131, 2, 1],
            "low word first"
        );
    }
}
