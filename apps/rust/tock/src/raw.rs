// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The system calls as they are: registers go in, registers come out, and nothing is checked.
//! [`crate::Syscalls`] makes safe functions of them.

/// A register as the kernel sees it: a number or an address. It is held as a pointer, so that an
/// address stays one of the object that it is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(transparent)]
pub struct Register(*mut ());

impl Register {
    /// 0: no function, no buffer.
    pub const NULL: Register = Register(core::ptr::null_mut());

    /// As a number, of 32 bits as on the chip.
    #[inline(always)]
    pub fn as_u32(self) -> u32 {
        self.0.addr() as u32
    }

    /// As a number of bytes.
    #[inline(always)]
    pub fn as_usize(self) -> usize {
        self.0.addr()
    }

    /// As an address.
    #[inline(always)]
    pub const fn as_ptr<T>(self) -> *mut T {
        self.0.cast()
    }
}

impl From<u32> for Register {
    #[inline(always)]
    fn from(number: u32) -> Register {
        Register(core::ptr::without_provenance_mut(number as usize))
    }
}

impl From<usize> for Register {
    #[inline(always)]
    fn from(number: usize) -> Register {
        Register(core::ptr::without_provenance_mut(number))
    }
}

impl<T> From<*const T> for Register {
    #[inline(always)]
    fn from(address: *const T) -> Register {
        Register(address.cast_mut().cast())
    }
}

impl<T> From<*mut T> for Register {
    #[inline(always)]
    fn from(address: *mut T) -> Register {
        Register(address.cast())
    }
}

/// What comes back from a call: on version 2 the variant and up to three words, on version 1 one
/// word, negative for an error.
pub type Returned = [Register; RETURNED];

#[cfg(feature = "abi-v1")]
const RETURNED: usize = 1;
#[cfg(not(feature = "abi-v1"))]
const RETURNED: usize = 4;

/// An upcall as the kernel calls it: three arguments, and the fourth as it was subscribed with.
pub type UpcallFunction = unsafe extern "C" fn(Register, Register, Register, Register);

/// What carries out a system call: [`crate::Kernel`]. The functions differ in how many registers
/// they load, so that a call costs no more than its own arguments.
///
/// # Safety
///
/// Who implements this hands the registers to a kernel of Tock as they are, or to something that
/// keeps the same promises: it touches memory only by what was allowed and for as long as it is
/// allowed, calls a function only while it is subscribed and only during a yield, and
/// leaves the caller's other registers and memory alone.
pub unsafe trait RawSyscalls: Sized {
    /// Yield of version 1, which waits.
    ///
    /// # Safety
    ///
    /// What is subscribed may run.
    #[cfg(feature = "abi-v1")]
    unsafe fn yield0();

    /// Yield with one argument.
    ///
    /// # Safety
    ///
    /// The argument is one that TRD 104 has. What is subscribed may run.
    #[cfg(not(feature = "abi-v1"))]
    unsafe fn yield1(arguments: [Register; 1]);

    /// Yield with two arguments.
    ///
    /// # Safety
    ///
    /// As [`RawSyscalls::yield1`]; for yield-no-wait the second is the address of a byte that the
    /// kernel may write.
    #[cfg(not(feature = "abi-v1"))]
    unsafe fn yield2(arguments: [Register; 2]);

    /// Yield with three arguments, and the upcall's in return.
    ///
    /// # Safety
    ///
    /// As [`RawSyscalls::yield1`].
    #[cfg(not(feature = "abi-v1"))]
    unsafe fn yield3(arguments: [Register; 3]) -> [Register; 3];

    /// A call with one argument.
    ///
    /// # Safety
    ///
    /// `CLASS` is not yield, and the call is sound: see [`RawSyscalls::syscall4`].
    unsafe fn syscall1<const CLASS: u32>(arguments: [Register; 1]) -> Returned;

    /// A call with two arguments.
    ///
    /// # Safety
    ///
    /// As [`RawSyscalls::syscall1`].
    unsafe fn syscall2<const CLASS: u32>(arguments: [Register; 2]) -> Returned;

    /// A call with four arguments.
    ///
    /// # Safety
    ///
    /// `CLASS` is not yield. A function that is subscribed is an [`UpcallFunction`], sound to call
    /// with what is subscribed beside it, until another takes its place. A buffer that is allowed
    /// read-only is not written, one that is allowed read-write is neither written nor read as
    /// plain memory, until another takes its place. Memory that a memop gives back is not in use.
    unsafe fn syscall4<const CLASS: u32>(arguments: [Register; 4]) -> Returned;
}
