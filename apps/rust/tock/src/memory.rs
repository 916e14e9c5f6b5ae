// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The app's memory in addition to its statics and stack: heap, which the kernel gives by moving the break.

use core::ops::{Deref, DerefMut};
use core::ptr::{self, NonNull};
use core::slice;
use core::sync::atomic::{AtomicBool, AtomicPtr, AtomicUsize, Ordering};

use crate::{ErrorCode, Kernel, Syscalls};

/// An [`Area`] starts at a multiple of this many bytes.
pub const ALIGNMENT: usize = 64;

/// A token, which only one owner can have at a time.
#[derive(Debug)]
struct Token(AtomicBool);

impl Token {
    const fn new() -> Token {
        Token(AtomicBool::new(false))
    }

    /// Takes the token; returns false if it is already taken.
    #[inline]
    fn take(&self) -> bool {
        #[cfg(target_has_atomic = "8")]
        return !self.0.swap(true, Ordering::Acquire);
        // The chip has no such instruction, and does not need it: an app has one thread, and its upcalls run
        // only at a yield.
        #[cfg(not(target_has_atomic = "8"))]
        {
            let free = !self.0.load(Ordering::Relaxed);
            self.0.store(true, Ordering::Relaxed);
            free
        }
    }

    #[inline]
    fn give_back(&self) {
        #[cfg(target_has_atomic = "8")]
        self.0.store(false, Ordering::Release);
        #[cfg(not(target_has_atomic = "8"))]
        self.0.store(false, Ordering::Relaxed);
    }
}

/// The right to move the break.
static BREAK: Token = Token::new();

/// The right to move the break, not below its position when this was taken. When dropped, it moves the break
/// back there.
///
/// ```
/// use tock::memory::Break;
///
/// let mut end = Break::take()?;
/// assert_eq!(end.sbrk(8)?, end.base());
/// assert_eq!(end.sbrk(8)?, end.base() + 8);
/// end.brk(end.base() + 4)?;
/// assert_eq!(end.sbrk(0)?, end.base() + 4);
/// # Ok::<_, tock::ErrorCode>(())
/// ```
#[derive(Debug)]
pub struct Break {
    base: *mut u8,
}

impl Break {
    /// Takes the right.
    ///
    /// # Errors
    ///
    /// BUSY if it is already taken; the kernel's.
    pub fn take() -> Result<Break, ErrorCode> {
        if !BREAK.take() {
            return Err(ErrorCode::Busy);
        }
        let base = Kernel::memop_increment_brk(0);
        base.map(|base| Break { base })
            .inspect_err(|_| BREAK.give_back())
    }

    /// The address of the break when this was taken.
    #[inline]
    pub fn base(&self) -> usize {
        self.base.addr()
    }

    /// Moves the break up by this many bytes, and returns its previous address.
    ///
    /// # Errors
    ///
    /// The kernel's; INVAL for 2 GiB and more.
    #[inline]
    pub fn sbrk(&mut self, bytes: u32) -> Result<usize, ErrorCode> {
        Kernel::memop_increment_brk(bytes).map(|start| start.addr())
    }

    /// Moves the break to an address.
    ///
    /// # Errors
    ///
    /// INVAL if that is below the base; the kernel's.
    #[inline]
    pub fn brk(&mut self, address: usize) -> Result<(), ErrorCode> {
        if address < self.base() {
            return Err(ErrorCode::Invalid);
        }
        // SAFETY: no memory above the base is in use. Memory in use comes from `Area::reserve` or
        // `memop_increment_brk`. The first needs the token that this has. The second returns a raw pointer,
        // for whose use its caller is responsible.
        unsafe { Kernel::memop_brk(self.base.with_addr(address)) }
    }
}

impl Drop for Break {
    fn drop(&mut self) {
        let _ = self.brk(self.base()); // the previous position is known to be allowed
        BREAK.give_back();
    }
}

/// A piece of heap that is reserved once, and lent to one borrower at a time.
///
/// ```
/// use tock::memory::Area;
///
/// static FROM: Area = Area::new();
///
/// FROM.reserve(256)?;
/// let mut words = FROM.lend(16).unwrap();
/// words.fill(7);
/// assert!(FROM.lend(16).is_none());
/// drop(words);
/// assert!(FROM.lend(257).is_none());
/// assert_eq!(FROM.lend(256).unwrap()[..17], [7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 0]);
/// # Ok::<_, tock::ErrorCode>(())
/// ```
#[derive(Debug)]
pub struct Area {
    lent: Token,
    start: AtomicPtr<u32>,
    words: AtomicUsize,
}

impl Area {
    /// An area without memory.
    #[allow(clippy::new_without_default)] // it is for statics
    pub const fn new() -> Area {
        Area {
            lent: Token::new(),
            start: AtomicPtr::new(ptr::null_mut()),
            words: AtomicUsize::new(0),
        }
    }

    /// Reserves this many words of memory. An area that has at least as many keeps them.
    ///
    /// # Errors
    ///
    /// BUSY if the area is lent, or the break is taken; ALREADY if it has memory, but less; the kernel's.
    pub fn reserve(&self, words: usize) -> Result<(), ErrorCode> {
        if !self.lent.take() {
            return Err(ErrorCode::Busy);
        }
        let reserved = self.reserve_unlent(words);
        self.lent.give_back();
        reserved
    }

    fn reserve_unlent(&self, words: usize) -> Result<(), ErrorCode> {
        match self.words.load(Ordering::Relaxed) {
            0 => {}
            has if has >= words => return Ok(()),
            _ => return Err(ErrorCode::Already),
        }
        let bytes = words.checked_mul(size_of::<u32>());
        let bytes = bytes.and_then(|bytes| bytes.checked_add(ALIGNMENT - 1));
        let bytes = bytes.and_then(|bytes| u32::try_from(bytes).ok());
        let bytes = bytes.ok_or(ErrorCode::NoMem)?;
        if !BREAK.take() {
            return Err(ErrorCode::Busy);
        }
        let start = Kernel::memop_increment_brk(bytes);
        BREAK.give_back();
        let start = start?;
        let start = start.map_addr(|start| start.next_multiple_of(ALIGNMENT));
        self.start.store(start.cast(), Ordering::Relaxed);
        self.words.store(words, Ordering::Relaxed);
        Ok(())
    }

    /// Lends the first `words` words, with the contents that the last borrower left. None if the area is
    /// already lent or is smaller.
    #[inline]
    pub fn lend(&self, words: usize) -> Option<Lent<'_>> {
        if !self.lent.take() {
            return None;
        }
        if words > self.words.load(Ordering::Relaxed) || words == 0 {
            self.lent.give_back();
            return None;
        }
        let start = NonNull::new(self.start.load(Ordering::Relaxed))?;
        Some(Lent {
            area: self,
            start,
            words,
        })
    }
}

/// Words of an [`Area`]. When dropped, it returns them.
#[derive(Debug)]
pub struct Lent<'area> {
    area: &'area Area,
    // Not a reference: that would have to outlive the moment when the words are returned.
    start: NonNull<u32>,
    words: usize,
}

impl Deref for Lent<'_> {
    type Target = [u32];

    #[inline(always)]
    fn deref(&self) -> &[u32] {
        // SAFETY: `start` has this many words, aligned and initialised, which the kernel gave only to
        // `Area::reserve`. The break stays above them: see `Break::brk`. While this lives it has the area's
        // token, so nothing else makes a reference to them.
        unsafe { slice::from_raw_parts(self.start.as_ptr(), self.words) }
    }
}

impl DerefMut for Lent<'_> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut [u32] {
        // SAFETY: as for `deref`.
        unsafe { slice::from_raw_parts_mut(self.start.as_ptr(), self.words) }
    }
}

impl Drop for Lent<'_> {
    #[inline]
    fn drop(&mut self) {
        self.area.lent.give_back();
    }
}
