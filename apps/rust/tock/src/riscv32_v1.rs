// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The system calls of version 1 (Tock 1.x) on the chip: the class is in a0, arguments are in a1 to a4, and
//! the result is one word in a0.

use core::arch::asm;

use crate::abi::TOCK_YIELD;
use crate::raw::{RawSyscalls, Register, Returned};

/// The kernel that the app runs on.
pub struct Kernel;

// SAFETY: each function is one ecall with the registers of Tock 1.x, whose kernel changes only a0. Only at a
// yield an upcall may run on the app's stack as an ordinary procedure, so all caller-saved registers of the C
// calling convention are declared as changed. No block is marked as not using memory, so all of it is up to
// date before the call.
unsafe impl RawSyscalls for Kernel {
    #[inline(always)]
    unsafe fn yield0() {
        // SAFETY: as the caller guarantees; for the registers see above.
        unsafe {
            asm!("ecall", inlateout("a0") TOCK_YIELD => _, clobber_abi("C"));
        }
    }

    #[inline(always)]
    unsafe fn syscall1<const CLASS: u32>([first]: [Register; 1]) -> Returned {
        let a0: *mut ();
        // SAFETY: as the caller guarantees; for the registers see above.
        unsafe {
            asm!(
                "ecall",
                inlateout("a0") Register::from(CLASS).as_ptr::<()>() => a0,
                in("a1") first.as_ptr::<()>(),
                options(nostack, preserves_flags),
            );
        }
        [a0.into()]
    }

    #[inline(always)]
    unsafe fn syscall2<const CLASS: u32>([first, second]: [Register; 2]) -> Returned {
        let a0: *mut ();
        // SAFETY: as the caller guarantees; for the registers see above.
        unsafe {
            asm!(
                "ecall",
                inlateout("a0") Register::from(CLASS).as_ptr::<()>() => a0,
                in("a1") first.as_ptr::<()>(),
                in("a2") second.as_ptr::<()>(),
                options(nostack, preserves_flags),
            );
        }
        [a0.into()]
    }

    #[inline(always)]
    unsafe fn syscall4<const CLASS: u32>([a, b, c, d]: [Register; 4]) -> Returned {
        let a0: *mut ();
        // SAFETY: as the caller guarantees; for the registers see above.
        unsafe {
            asm!(
                "ecall",
                inlateout("a0") Register::from(CLASS).as_ptr::<()>() => a0,
                in("a1") a.as_ptr::<()>(),
                in("a2") b.as_ptr::<()>(),
                in("a3") c.as_ptr::<()>(),
                in("a4") d.as_ptr::<()>(),
                options(nostack, preserves_flags),
            );
        }
        [a0.into()]
    }
}
