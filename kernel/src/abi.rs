// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The terms of the system-call interface: error codes, results of calls, names of upcalls, and the few
//! constants that differ between the two versions. [`crate::version`] defines which registers hold a
//! call and its result.

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

/// The result of a system call. It has every variant of the interface, including those that no driver
/// of this kernel returns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Return {
    Failure(ErrorCode),
    FailureU32(ErrorCode, u32),
    /// A failed subscribe or allow returns the pair that it was given.
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

/// The name of an upcall: its driver and its number there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UpcallId {
    pub driver: u32,
    pub number: u32,
}

pub use of_version::{CANCELLED, FIRST_PROCESS, INTERFACE, NOT_QUEUED, PERF, RELAYS, UNSTATED};

#[cfg(not(feature = "abi-v1"))]
mod of_version {
    use super::ErrorCode;

    /// The version served, in the form of application headers, and the version assumed for an
    /// application whose header has none. `None`: such an application is refused, as on Tock.
    pub const INTERFACE: (u16, u16) = (2, 2);
    pub const UNSTATED: Option<(u16, u16)> = None;

    /// Perf's driver number.
    pub const PERF: u32 = tockmark_perf::DRIVER_NUMBER;

    /// The number that applications use for the first process.
    pub const FIRST_PROCESS: u32 = 0;

    /// The error of a notification that finds no free entry in the queue.
    pub const NOT_QUEUED: ErrorCode = ErrorCode::NoMemory;

    /// The status of an operation that was cancelled.
    pub const CANCELLED: u32 = ErrorCode::Cancel as u32;

    /// Does this version have the registries and the relay? The relay is also IPC.
    pub const RELAYS: bool = true;
}

#[cfg(feature = "abi-v1")]
mod of_version {
    use super::ErrorCode;

    /// The version served, in the form of application headers, and the version assumed for an
    /// application whose header has none, as was common.
    pub const INTERFACE: (u16, u16) = (1, 0);
    pub const UNSTATED: Option<(u16, u16)> = Some(INTERFACE);

    /// Perf's driver number, as in the 2021 study. It has commands 0, 1, 2 and 8 only, since a result is
    /// one word; counters are returned unchanged, even if that makes them negative.
    pub const PERF: u32 = 0x9_0004;

    /// The number that applications use for the first process.
    pub const FIRST_PROCESS: u32 = 1;

    /// The error of a notification that finds no free entry in the queue.
    pub const NOT_QUEUED: ErrorCode = ErrorCode::Fail;

    /// The status of an operation that was cancelled.
    pub const CANCELLED: u32 = (ErrorCode::Cancel as u32).wrapping_neg();

    /// Does this version have the registries and the relay? The relay is also IPC.
    pub const RELAYS: bool = false;
}
