// SPDX-License-Identifier: Apache-2.0 OR MIT

//! What the two versions of the system-call interface have in common: error codes, and what a call
//! can result in. How a result lies in registers is for [`crate::version`] to say.

/// Why a call failed. Only the codes that this kernel gives are listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum ErrorCode {
    Fail = 1,
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

impl From<Result<(), ErrorCode>> for Return {
    fn from(result: Result<(), ErrorCode>) -> Self {
        match result {
            Ok(()) => Return::Success,
            Err(error) => Return::Failure(error),
        }
    }
}
