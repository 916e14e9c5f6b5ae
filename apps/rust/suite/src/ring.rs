// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The names and working sets of the members of the ring of the group ctx.

use core::sync::atomic::AtomicU32;

use tock::ErrorCode;
use tock::runtime;

use crate::peer;
use crate::rows::ctx_ring;

/// The sizes of a working set, in the order in which the app ctx asks for them.
pub const KIB: [u32; ctx_ring::kib::VALUES.len()] = ctx_ring::kib::VALUES;

/// Words of the largest set.
pub const WORDS: usize = 256 * ctx_ring::kib::MAX as usize;

/// Reads every word of the first `kib` KiB, like mem.read_asm.
#[inline]
pub fn walk(set: &[AtomicU32; WORDS], kib: u32) {
    if kib > 0 {
        runtime::read_words(&set[..256 * kib as usize]);
    }
}

/// Finds the process in this slot: ctx, ring, ring2, ring3.
pub fn find(slot: u32) -> Result<u32, ErrorCode> {
    if slot == 0 {
        peer::find("ctx", 1)
    } else {
        peer::find("ring", slot)
    }
}
