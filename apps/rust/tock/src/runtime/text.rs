// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Texts in the form that the C harness takes.

use core::ffi::{CStr, c_char};

/// A text that lives for ever, or none: a `const char *`.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub struct Text(*const c_char);

// SAFETY: it points to a constant, which does not change.
unsafe impl Sync for Text {}

impl Text {
    /// No text.
    pub const NONE: Self = Self(core::ptr::null());

    /// Makes it from this text.
    pub const fn new(text: &'static CStr) -> Self {
        Self(text.as_ptr())
    }

    /// Makes it from this text, if there is one.
    pub const fn maybe(text: Option<&'static CStr>) -> Self {
        match text {
            Some(text) => Self::new(text),
            None => Self::NONE,
        }
    }

    pub(super) fn is_none(self) -> bool {
        self.0.is_null()
    }
}

unsafe extern "C" {
    safe fn tock_error_name(code: u32) -> Text;
}

/// Returns the name of an error code, as in records.
pub(super) fn error_name(code: u32) -> Text {
    tock_error_name(code)
}
