// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The bare system calls: registers go in, registers are returned, and nothing is checked.
//! [`crate::Syscalls`] makes safe functions of them.

/// A register as the kernel sees it: a number or an address. It is kept as a pointer, so that an address
/// keeps the provenance of its object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(transparent)]
pub struct Register(*mut ());

impl Register {
    /// 0: no function, no buffer.
    pub const NULL: Register = Register(core::ptr::null_mut());

    /// Returns it as a number, of 32 bits as on the chip.
    #[inline(always)]
    pub fn as_u32(self) -> u32 {
        self.0.addr() as u32
    }

    /// Returns it as a number of bytes.
    #[inline(always)]
    pub fn as_usize(self) -> usize {
        self.0.addr()
    }

    /// Returns it as an address.
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

/// The result of a call: in version 2 the variant and up to three words, in version 1 one word, negative for
/// an error.
pub type Returned = [Register; RETURNED];

#[cfg(feature = "abi-v1")]
const RETURNED: usize = 1;
#[cfg(not(feature = "abi-v1"))]
const RETURNED: usize = 4;

/// An upcall as the kernel calls it: three arguments, and the data of the subscription.
pub type UpcallFunction = unsafe extern "C" fn(Register, Register, Register, Register);

/// An implementation of system calls: [`crate::Kernel`]. The functions differ in the number of registers that
/// they load, so that a call costs no more than its own arguments.
///
/// # Safety
///
/// The implementation passes the registers to a kernel of Tock unchanged, or to something with the same
/// guarantees: it accesses only memory that is allowed at the time, calls a function only while it is
/// subscribed and only during a yield, and does not change the caller's other registers and memory.
pub unsafe trait RawSyscalls: Sized {
    /// Yield of version 1, which waits.
    ///
    /// # Safety
    ///
    /// Any subscribed function may run.
    #[cfg(feature = "abi-v1")]
    unsafe fn yield0();

    /// Yield with one argument.
    ///
    /// # Safety
    ///
    /// The argument is one that TRD 104 defines. Any subscribed function may run.
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

    /// Yield with three arguments, which returns the upcall's.
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
    /// `CLASS` is not yield. A subscribed function is an [`UpcallFunction`], sound to call with its data until
    /// another one replaces it. A buffer allowed read-only is not written, and a buffer allowed read-write is
    /// neither written nor read as plain memory, until another one replaces it. Memory that a memop returns
    /// to the kernel is not in use.
    unsafe fn syscall4<const CLASS: u32>(arguments: [Register; 4]) -> Returned;
}
