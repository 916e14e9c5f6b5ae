// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The console, which prints the app's text.

use core::cell::Cell;
use core::fmt;
use core::sync::atomic::AtomicU8;

#[cfg(feature = "abi-v1")]
use crate::abi::TOCK_ALLOW as ALLOW;
#[cfg(not(feature = "abi-v1"))]
use crate::abi::TOCK_ALLOW_RO as ALLOW;
use crate::abi::{TOCK_CONSOLE, TOCK_CONSOLE_WRITE};
#[cfg(not(feature = "abi-v1"))]
use crate::share::AllowRo as Allow;
#[cfg(feature = "abi-v1")]
use crate::share::AllowRw as Allow;
use crate::share::{self, Subscribe};
use crate::syscalls::allow;
use crate::{ErrorCode, Kernel, Syscalls};

/// The buffer and the upcall of one write.
type Write<'share> = (
    Allow<'share, Kernel, TOCK_CONSOLE, TOCK_CONSOLE_WRITE>,
    Subscribe<'share, Kernel, TOCK_CONSOLE, TOCK_CONSOLE_WRITE>,
);

/// How many bytes are written at a time in version 1. Its buffers must be in RAM, and the text may be in
/// flash, so it is copied.
#[cfg(feature = "abi-v1")]
const PIECE: usize = 64;

/// Prints text and waits until it has been sent.
///
/// # Errors
///
/// The kernel's; FAIL if fewer bytes were sent than the text has.
pub fn write(text: &[u8]) -> Result<(), ErrorCode> {
    #[cfg(not(feature = "abi-v1"))]
    return write_piece(text);
    #[cfg(feature = "abi-v1")]
    text.chunks(PIECE).try_for_each(|piece| {
        let mut copy = [0; PIECE];
        copy[..piece.len()].copy_from_slice(piece);
        write_piece(&mut copy[..piece.len()])
    })
}

#[cfg(not(feature = "abi-v1"))]
type Piece<'a> = &'a [u8];
#[cfg(feature = "abi-v1")]
type Piece<'a> = &'a mut [u8];

fn write_piece(text: Piece<'_>) -> Result<(), ErrorCode> {
    let written = Cell::new(None);
    let length = u32::try_from(text.len()).map_err(|_| ErrorCode::Size)?;
    share::scope::<Write<'_>, _, _>(|handle| {
        let (buffer, upcall) = handle.split();
        #[cfg(not(feature = "abi-v1"))]
        Kernel::allow_ro(buffer, text)?;
        #[cfg(feature = "abi-v1")]
        Kernel::allow_rw(buffer, text)?;
        Kernel::subscribe(upcall, &written)?;
        Kernel::command(TOCK_CONSOLE, TOCK_CONSOLE_WRITE, length, 0).check()?;
        loop {
            Kernel::yield_wait();
            match written.get() {
                None => {} // another upcall ran
                Some((all,)) if all == length => return Ok(()),
                Some(_) => return Err(ErrorCode::Fail),
            }
        }
    })
}

/// The console for `write!`, without a buffer.
///
/// ```
/// use core::fmt::Write;
/// use tock::console::Writer;
///
/// writeln!(Writer, "{} and {}", 1, 2)?;
/// assert_eq!(tock::fake::printed(), b"1 and 2\n");
/// # Ok::<_, core::fmt::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct Writer;

impl fmt::Write for Writer {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        write(text.as_bytes()).map_err(|_| fmt::Error)
    }
}

/// Allows the console a text in RAM, to be written later.
///
/// # Errors
///
/// The kernel's.
#[inline]
pub fn allow_static(text: &'static [AtomicU8]) -> Result<(), ErrorCode> {
    let start = text.as_ptr().into();
    // SAFETY: the text lives for ever and consists of atomics.
    unsafe { allow::<Kernel, ALLOW>(TOCK_CONSOLE, TOCK_CONSOLE_WRITE, start, text.len()) }
}

/// Takes back the console's text and its upcall.
#[inline]
pub fn take_back() {
    #[cfg(not(feature = "abi-v1"))]
    Kernel::unallow_ro(TOCK_CONSOLE, TOCK_CONSOLE_WRITE);
    #[cfg(feature = "abi-v1")]
    Kernel::unallow_rw(TOCK_CONSOLE, TOCK_CONSOLE_WRITE);
    Kernel::unsubscribe(TOCK_CONSOLE, TOCK_CONSOLE_WRITE);
}
