// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The words of the system-call interface: error codes, what a call can result in, how an upcall is
//! named; and the few constants by which its two versions differ. How a call and its result lie in
//! registers is for [`crate::version`] to say.

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

/// Which upcall of which driver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UpcallId {
    pub driver: u32,
    pub number: u32,
}

pub use of_version::{FIRST_PROCESS, INTERFACE, NOT_QUEUED, PERF, RELAYS, UNSTATED};

#[cfg(not(feature = "abi-v1"))]
mod of_version {
    use super::ErrorCode;

    /// The version served, as application headers name it; and what is taken for an application whose
    /// header names none: it is refused, as on Tock.
    pub const INTERFACE: (u16, u16) = (2, 2);
    pub const UNSTATED: Option<(u16, u16)> = None;

    /// Perf's driver number.
    pub const PERF: u32 = tockmark_perf::DRIVER_NUMBER;

    /// To applications the first process is this number.
    pub const FIRST_PROCESS: u32 = 0;

    /// What a notification that finds no room fails with.
    pub const NOT_QUEUED: ErrorCode = ErrorCode::NoMemory;

    /// Are there the registries and the relay, which is IPC, too?
    pub const RELAYS: bool = true;
}

#[cfg(feature = "abi-v1")]
mod of_version {
    use super::ErrorCode;

    /// The version served, as application headers name it; and what is taken for an application whose
    /// header names none, as was usual.
    pub const INTERFACE: (u16, u16) = (1, 0);
    pub const UNSTATED: Option<(u16, u16)> = Some(INTERFACE);

    /// Perf's driver number: that of the 2021 study. Commands 0, 1, 2 and 8 only, since a result is one
    /// word; counters come as they are, whatever their sign.
    pub const PERF: u32 = 0x9_0004;

    /// To applications the first process is this number.
    pub const FIRST_PROCESS: u32 = 1;

    /// What a notification that finds no room fails with.
    pub const NOT_QUEUED: ErrorCode = ErrorCode::Fail;

    /// Are there the registries and the relay, which is IPC, too?
    pub const RELAYS: bool = false;
}
