// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The kernel's error codes.

use crate::abi;

/// Why a call failed, with the names of libtock-rs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u32)]
#[allow(missing_docs)] // the kernel's words, which are documented nowhere else
pub enum ErrorCode {
    Fail = 1,
    Busy = 2,
    Already = 3,
    Off = 4,
    Reserve = 5,
    Invalid = 6,
    Size = 7,
    Cancel = 8,
    NoMem = abi::TOCK_NOMEM,
    NoSupport = abi::TOCK_NOSUPPORT,
    NoDevice = abi::TOCK_NODEVICE,
    Uninstalled = 12,
    NoAck = 13,
    /// Not from the kernel: the kernel's result is not one that the call can have.
    BadRVal = 1024,
}

impl ErrorCode {
    /// All error codes, in the order of their numbers.
    pub const ALL: [ErrorCode; 14] = [
        ErrorCode::Fail,
        ErrorCode::Busy,
        ErrorCode::Already,
        ErrorCode::Off,
        ErrorCode::Reserve,
        ErrorCode::Invalid,
        ErrorCode::Size,
        ErrorCode::Cancel,
        ErrorCode::NoMem,
        ErrorCode::NoSupport,
        ErrorCode::NoDevice,
        ErrorCode::Uninstalled,
        ErrorCode::NoAck,
        ErrorCode::BadRVal,
    ];

    /// The name in logs, as `tock_error_name` in C.
    pub const fn name(self) -> &'static str {
        match self {
            ErrorCode::Fail => "FAIL",
            ErrorCode::Busy => "BUSY",
            ErrorCode::Already => "ALREADY",
            ErrorCode::Off => "OFF",
            ErrorCode::Reserve => "RESERVE",
            ErrorCode::Invalid => "INVAL",
            ErrorCode::Size => "SIZE",
            ErrorCode::Cancel => "CANCEL",
            ErrorCode::NoMem => "NOMEM",
            ErrorCode::NoSupport => "NOSUPPORT",
            ErrorCode::NoDevice => "NODEVICE",
            ErrorCode::Uninstalled => "UNINSTALLED",
            ErrorCode::NoAck => "NOACK",
            ErrorCode::BadRVal => "BADRVAL",
        }
    }

    /// Returns the error code with this number; BADRVAL if there is none.
    #[inline(always)]
    pub(crate) fn of(number: u32) -> ErrorCode {
        ErrorCode::try_from(number).unwrap_or(ErrorCode::BadRVal)
    }
}

/// This number is not an error code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotAnErrorCode;

impl TryFrom<u32> for ErrorCode {
    type Error = NotAnErrorCode;

    #[inline(always)]
    fn try_from(number: u32) -> Result<ErrorCode, NotAnErrorCode> {
        // The compiler makes a comparison and a move of this, since the numbers are the enum's.
        Ok(match number {
            1 => ErrorCode::Fail,
            2 => ErrorCode::Busy,
            3 => ErrorCode::Already,
            4 => ErrorCode::Off,
            5 => ErrorCode::Reserve,
            6 => ErrorCode::Invalid,
            7 => ErrorCode::Size,
            8 => ErrorCode::Cancel,
            abi::TOCK_NOMEM => ErrorCode::NoMem,
            abi::TOCK_NOSUPPORT => ErrorCode::NoSupport,
            abi::TOCK_NODEVICE => ErrorCode::NoDevice,
            12 => ErrorCode::Uninstalled,
            13 => ErrorCode::NoAck,
            1024 => ErrorCode::BadRVal,
            _ => return Err(NotAnErrorCode),
        })
    }
}
