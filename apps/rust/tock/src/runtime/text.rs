// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Texts as the C harness takes them.

use core::ffi::{CStr, c_char};

/// A text that is there for ever, or none: a `const char *`.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub struct Text(*const c_char);

// SAFETY: it points to a constant, which nobody changes.
unsafe impl Sync for Text {}

impl Text {
    /// None.
    pub const NONE: Self = Self(core::ptr::null());

    /// This one.
    pub const fn new(text: &'static CStr) -> Self {
        Self(text.as_ptr())
    }

    /// One that is not there, or there.
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

/// The name of an error code, as records have it.
pub(super) fn error_name(code: u32) -> Text {
    tock_error_name(code)
}
