// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The system calls of version 2 (TRD 104) on the chip: the class is in a4, arguments and results are in a0
//! to a3.

use core::arch::asm;

use crate::abi::TOCK_YIELD;
use crate::raw::{RawSyscalls, Register, Returned};

/// The kernel that the app runs on.
pub struct Kernel;

// SAFETY: each function is one ecall with the registers of TRD 104, and the kernel keeps the promises of TRD
// 104. Except at a yield it changes only a0 to a3. At a yield an upcall may run on the app's stack as an
// ordinary procedure, so all caller-saved registers of the C calling convention are declared as changed.
// No block is marked as not using memory, so all of it is up to date before the call.
unsafe impl RawSyscalls for Kernel {
    #[inline(always)]
    unsafe fn yield1([kind]: [Register; 1]) {
        // SAFETY: as the caller guarantees; for the registers see above.
        unsafe {
            asm!(
                "ecall",
                inlateout("a0") kind.as_ptr::<()>() => _,
                inlateout("a4") TOCK_YIELD => _,
                clobber_abi("C"),
            );
        }
    }

    #[inline(always)]
    unsafe fn yield2([kind, first]: [Register; 2]) {
        // SAFETY: as the caller guarantees; for the registers see above.
        unsafe {
            asm!(
                "ecall",
                inlateout("a0") kind.as_ptr::<()>() => _,
                inlateout("a1") first.as_ptr::<()>() => _,
                inlateout("a4") TOCK_YIELD => _,
                clobber_abi("C"),
            );
        }
    }

    #[inline(always)]
    unsafe fn yield3([kind, first, second]: [Register; 3]) -> [Register; 3] {
        let (a0, a1, a2): (*mut (), *mut (), *mut ());
        // SAFETY: as the caller guarantees; for the registers see above.
        unsafe {
            asm!(
                "ecall",
                inlateout("a0") kind.as_ptr::<()>() => a0,
                inlateout("a1") first.as_ptr::<()>() => a1,
                inlateout("a2") second.as_ptr::<()>() => a2,
                inlateout("a4") TOCK_YIELD => _,
                clobber_abi("C"),
            );
        }
        [a0.into(), a1.into(), a2.into()]
    }

    #[inline(always)]
    unsafe fn syscall1<const CLASS: u32>([first]: [Register; 1]) -> Returned {
        let (a0, a1, a2, a3): (*mut (), *mut (), *mut (), *mut ());
        // SAFETY: as the caller guarantees; for the registers see above.
        unsafe {
            asm!(
                "ecall",
                inlateout("a0") first.as_ptr::<()>() => a0,
                lateout("a1") a1,
                lateout("a2") a2,
                lateout("a3") a3,
                in("a4") CLASS,
                options(nostack, preserves_flags),
            );
        }
        [a0.into(), a1.into(), a2.into(), a3.into()]
    }

    #[inline(always)]
    unsafe fn syscall2<const CLASS: u32>([first, second]: [Register; 2]) -> Returned {
        let (a0, a1, a2, a3): (*mut (), *mut (), *mut (), *mut ());
        // SAFETY: as the caller guarantees; for the registers see above.
        unsafe {
            asm!(
                "ecall",
                inlateout("a0") first.as_ptr::<()>() => a0,
                inlateout("a1") second.as_ptr::<()>() => a1,
                lateout("a2") a2,
                lateout("a3") a3,
                in("a4") CLASS,
                options(nostack, preserves_flags),
            );
        }
        [a0.into(), a1.into(), a2.into(), a3.into()]
    }

    #[inline(always)]
    unsafe fn syscall4<const CLASS: u32>([a, b, c, d]: [Register; 4]) -> Returned {
        let (a0, a1, a2, a3): (*mut (), *mut (), *mut (), *mut ());
        // SAFETY: as the caller guarantees; for the registers see above.
        unsafe {
            asm!(
                "ecall",
                inlateout("a0") a.as_ptr::<()>() => a0,
                inlateout("a1") b.as_ptr::<()>() => a1,
                inlateout("a2") c.as_ptr::<()>() => a2,
                inlateout("a3") d.as_ptr::<()>() => a3,
                in("a4") CLASS,
                options(nostack, preserves_flags),
            );
        }
        [a0.into(), a1.into(), a2.into(), a3.into()]
    }
}
