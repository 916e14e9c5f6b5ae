// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The memory of the bodies of asm/mem.S that copy, read and write words.

use core::ptr::null_mut;
use core::sync::atomic::AtomicU32;

use crate::memory::Lent;

/// `struct tm_span`, and the memory that it points to.
#[repr(C)]
pub struct Span {
    to: *mut u32,
    from: *const u32,
    from_end: *const u32,
    /// A multiple of 8 words.
    pub area: Lent<'static>,
}

impl Span {
    /// Spans all words of an area, to read or to write.
    pub fn over(area: Lent<'static>) -> Self {
        let range = area.as_ptr_range();
        Self {
            to: null_mut(),
            from: range.start,
            from_end: range.end,
            area,
        }
    }

    /// Spans the words before `half`, to be copied to the words from there on.
    pub fn copying(mut area: Lent<'static>, half: usize) -> Self {
        let (from, to) = area.split_at_mut(half);
        let (to, range) = (to.as_mut_ptr(), from.as_ptr_range());
        Self {
            to,
            from: range.start,
            from_end: range.end,
            area,
        }
    }
}

/// `struct tm_span` alone, for words that are only read.
#[repr(C)]
struct ReadSpan {
    to: *mut u32,
    from: *const AtomicU32,
    from_end: *const AtomicU32,
}

unsafe extern "C" {
    fn tm_read_words(span: *const ReadSpan) -> u32;
}

/// Reads all these words with the body of mem.read_asm, and returns the last one.
#[inline]
pub fn read_words(words: &[AtomicU32]) -> u32 {
    let range = words.as_ptr_range();
    let span = ReadSpan {
        to: null_mut(),
        from: range.start,
        from_end: range.end,
    };
    // SAFETY: it only reads, from the start to the end of a slice.
    unsafe { tm_read_words(&raw const span) }
}
