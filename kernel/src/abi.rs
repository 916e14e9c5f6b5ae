// SPDX-License-Identifier: Apache-2.0 OR MIT

//! What the two versions of the system-call interface have in common: error codes, and what a call
//! can result in. How a result lies in registers is for [`crate::version`] to say.

/// Why a call failed. This kernel's drivers need about half of these.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum ErrorCode {
    Fail = 1,
    Busy = 2,
    Already = 3,
    Off = 4,
    Reserve = 5,
    Invalid = 6,
    Size = 7,
    Cancel = 8,
    NoMemory = 9,
    NoSupport = 10,
    NoDevice = 11,
    Uninstalled = 12,
    NoAck = 13,
}

/// The result of a system call: every variant that the interface has, whether a driver of this kernel
/// needs it or not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Return {
    Failure(ErrorCode),
    FailureU32(ErrorCode, u32),
    /// A failed subscribe or allow hands back the pair that it was given.
    FailurePair(ErrorCode, u32, u32),
    FailureU64(ErrorCode, u64),
    Success,
    U32(u32),
    Pair(u32, u32),
    U64(u64),
    Triple(u32, u32, u32),
    U32AndU64(u32, u64),
}

impl From<Result<(), ErrorCode>> for Return {
    fn from(result: Result<(), ErrorCode>) -> Self {
        match result {
            Ok(()) => Return::Success,
            Err(error) => Return::Failure(error),
        }
    }
}
