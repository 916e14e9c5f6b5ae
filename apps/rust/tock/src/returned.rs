// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The result of a command, as a variant of version 2. Version 1 returns one signed word, which becomes one
//! of two variants: a failure, or a success with that word.

use crate::abi;
use crate::error::ErrorCode;
use crate::raw::Returned;

/// The result of a command: a variant and its words. The first word of a failure is its error code.
#[must_use = "this may be an error"]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CommandReturn {
    variant: u32,
    words: [u32; 3],
}

/// A success without a word; in version 1, whose successes all look the same, any success.
const SUCCESS: u32 = if cfg!(feature = "abi-v1") {
    abi::TOCK_SUCCESS_U32
} else {
    abi::TOCK_SUCCESS
};

impl From<Returned> for CommandReturn {
    #[cfg(not(feature = "abi-v1"))]
    #[inline(always)]
    fn from([variant, first, second, third]: Returned) -> CommandReturn {
        CommandReturn {
            variant: variant.as_u32(),
            words: [first.as_u32(), second.as_u32(), third.as_u32()],
        }
    }

    /// The negative of an error is its code.
    #[cfg(feature = "abi-v1")]
    #[inline(always)]
    fn from([word]: Returned) -> CommandReturn {
        let (variant, first) = if word.as_usize().cast_signed() < 0 {
            (abi::TOCK_FAILURE, word.as_u32().wrapping_neg())
        } else {
            (abi::TOCK_SUCCESS_U32, word.as_u32())
        };
        CommandReturn {
            variant,
            words: [first, 0, 0],
        }
    }
}

/// Joins two words, the low one first.
#[inline]
const fn wide(low: u32, high: u32) -> u64 {
    low as u64 | (high as u64) << 32
}

impl CommandReturn {
    /// The variant and its words, unchanged.
    #[inline]
    pub const fn raw_values(&self) -> (u32, u32, u32, u32) {
        let [first, second, third] = self.words;
        (self.variant, first, second, third)
    }

    /// The first word of any variant, for a call that is known to succeed.
    #[inline]
    pub const fn first(&self) -> u32 {
        self.words[0]
    }

    /// The error of a failure of any variant.
    ///
    /// # Errors
    ///
    /// The kernel's.
    #[inline(always)]
    pub fn check(&self) -> Result<(), ErrorCode> {
        if self.variant < abi::TOCK_SUCCESS {
            Err(ErrorCode::of(self.words[0]))
        } else {
            Ok(())
        }
    }

    /// Converts a success to `T`, if it is the variant of `T`.
    ///
    /// # Errors
    ///
    /// The kernel's, or BADRVAL if it is a success of another variant.
    #[inline(always)]
    pub fn to_result<T: SuccessData, E: From<ErrorCode>>(self) -> Result<T, E> {
        self.check()?;
        self.success().ok_or(E::from(ErrorCode::BadRVal))
    }

    #[inline(always)]
    fn success<T: SuccessData>(&self) -> Option<T> {
        (self.variant == T::VARIANT).then(|| T::from_words(self.words))
    }

    #[inline]
    fn failure(&self, variant: u32) -> Option<ErrorCode> {
        (self.variant == variant).then(|| ErrorCode::of(self.words[0]))
    }

    /// Is it a success without a word? In version 1: is it a success?
    #[inline]
    pub fn is_success(&self) -> bool {
        self.variant == SUCCESS
    }

    /// Is it a success with one word?
    #[inline]
    pub fn is_success_u32(&self) -> bool {
        self.variant == abi::TOCK_SUCCESS_U32
    }

    /// Is it a failure without a word?
    #[inline]
    pub fn is_failure(&self) -> bool {
        self.variant == abi::TOCK_FAILURE
    }

    /// The word of a success with one word.
    #[inline]
    pub fn get_success_u32(&self) -> Option<u32> {
        self.success()
    }

    /// The words of a success with two words.
    #[inline]
    pub fn get_success_2_u32(&self) -> Option<(u32, u32)> {
        self.success()
    }

    /// The double word of a success with one double word.
    #[inline]
    pub fn get_success_u64(&self) -> Option<u64> {
        self.success()
    }

    /// The words of a success with three words.
    #[inline]
    pub fn get_success_3_u32(&self) -> Option<(u32, u32, u32)> {
        self.success()
    }

    /// The word and the double word of a success with both.
    #[inline]
    pub fn get_success_u32_u64(&self) -> Option<(u32, u64)> {
        self.success()
    }

    /// The error of a failure without a word.
    #[inline]
    pub fn get_failure(&self) -> Option<ErrorCode> {
        self.failure(abi::TOCK_FAILURE)
    }

    /// The error and the word of a failure with one word.
    #[inline]
    pub fn get_failure_u32(&self) -> Option<(ErrorCode, u32)> {
        let error = self.failure(abi::TOCK_FAILURE_U32)?;
        Some((error, self.words[1]))
    }

    /// The error and the words of a failure with two words.
    #[inline]
    pub fn get_failure_2_u32(&self) -> Option<(ErrorCode, u32, u32)> {
        let error = self.failure(abi::TOCK_FAILURE_U32_U32)?;
        Some((error, self.words[1], self.words[2]))
    }

    /// The error and the double word of a failure with one double word.
    #[inline]
    pub fn get_failure_u64(&self) -> Option<(ErrorCode, u64)> {
        let error = self.failure(abi::TOCK_FAILURE_U64)?;
        Some((error, wide(self.words[1], self.words[2])))
    }
}

/// The data of a success.
pub trait SuccessData: sealed::Sealed + Sized {
    #[doc(hidden)]
    const VARIANT: u32;
    #[doc(hidden)]
    fn from_words(words: [u32; 3]) -> Self;
}

mod sealed {
    pub trait Sealed {}
}

macro_rules! success_data {
    ($type:ty, $variant:expr, $words:pat => $value:expr) => {
        impl sealed::Sealed for $type {}
        impl SuccessData for $type {
            const VARIANT: u32 = $variant;
            #[inline(always)]
            fn from_words($words: [u32; 3]) -> $type {
                $value
            }
        }
    };
}

success_data!((), SUCCESS, _ => ());
success_data!(u32, abi::TOCK_SUCCESS_U32, [first, ..] => first);
success_data!((u32, u32), abi::TOCK_SUCCESS_U32_U32, [a, b, _] => (a, b));
success_data!(u64, abi::TOCK_SUCCESS_U64, [low, high, _] => wide(low, high));
success_data!((u32, u32, u32), abi::TOCK_SUCCESS_U32_U32_U32, [a, b, c] => (a, b, c));
success_data!((u32, u64), abi::TOCK_SUCCESS_U32_U64, [a, low, high] => (a, wide(low, high)));
