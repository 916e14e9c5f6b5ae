// SPDX-License-Identifier: Apache-2.0 OR MIT

//! `Words` of stage.rs for Arm, whose procedures return a structure of two words through memory.

use super::Return;

/// The words that a body returns in r0 and r1.
#[derive(Clone, Copy, Debug)]
#[repr(transparent)]
pub struct Words(u64);

impl Words {
    /// The first word of a successful call.
    pub const OK: u32 = crate::abi::TOCK_SUCCESS_U32;

    /// Converts a call's result: OK and its word, or FAILURE and the error.
    #[inline(always)]
    pub fn of(returned: Result<u32, crate::ErrorCode>) -> Self {
        let (first, second) = match returned {
            Ok(word) => (Self::OK, word),
            Err(error) => (crate::abi::TOCK_FAILURE, error as u32),
        };
        Self(u64::from(second) << 32 | u64::from(first))
    }
}

// SAFETY: a word of 64 bits.
unsafe impl Return for Words {}
