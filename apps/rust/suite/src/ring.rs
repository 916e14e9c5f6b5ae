// SPDX-License-Identifier: Apache-2.0 OR MIT

//! What the members of the ring of the group ctx share: their names, their working sets.

use core::sync::atomic::AtomicU32;

use tock::ErrorCode;
use tock::runtime;

use crate::peer;
use crate::rows::ctx_ring;

/// The sizes of a working set, in the order in which the app ctx asks for them.
pub const KIB: [u32; ctx_ring::kib::VALUES.len()] = ctx_ring::kib::VALUES;

/// Words of the largest.
pub const WORDS: usize = 256 * ctx_ring::kib::MAX as usize;

/// Reads every word of the first so many KiB, as mem.read_asm does.
#[inline]
pub fn walk(set: &[AtomicU32; WORDS], kib: u32) {
    if kib > 0 {
        runtime::read_words(&set[..256 * kib as usize]);
    }
}

/// The process in this slot: ctx, ring, ring2, ring3.
pub fn find(slot: u32) -> Result<u32, ErrorCode> {
    if slot == 0 {
        peer::find("ctx", 1)
    } else {
        peer::find("ring", slot)
    }
}
