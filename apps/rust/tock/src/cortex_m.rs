// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The system calls of version 2 (TRD 104) on a Cortex-M: the class is part of the instruction, arguments
//! and results are in r0 to r3.

use core::arch::asm;

use crate::abi::TOCK_YIELD;
use crate::raw::{RawSyscalls, Register, Returned};

/// The kernel that the app runs on.
pub struct Kernel;

// SAFETY: each function is one svc with the registers of TRD 104, and the kernel keeps the promises of TRD
// 104. Except at a yield it changes only r0 to r3. At a yield an upcall may run on the app's stack as an
// ordinary procedure, so all caller-saved registers of the C calling convention are declared as changed.
// No block is marked as not using memory, so all of it is up to date before the call.
unsafe impl RawSyscalls for Kernel {
    #[inline(always)]
    unsafe fn yield1([kind]: [Register; 1]) {
        // SAFETY: as the caller guarantees; for the registers see above.
        unsafe {
            asm!(
                "svc {class}",
                class = const TOCK_YIELD,
                inlateout("r0") kind.as_ptr::<()>() => _,
                clobber_abi("C"),
            );
        }
    }

    #[inline(always)]
    unsafe fn yield2([kind, first]: [Register; 2]) {
        // SAFETY: as the caller guarantees; for the registers see above.
        unsafe {
            asm!(
                "svc {class}",
                class = const TOCK_YIELD,
                inlateout("r0") kind.as_ptr::<()>() => _,
                inlateout("r1") first.as_ptr::<()>() => _,
                clobber_abi("C"),
            );
        }
    }

    #[inline(always)]
    unsafe fn yield3([kind, first, second]: [Register; 3]) -> [Register; 3] {
        let (r0, r1, r2): (*mut (), *mut (), *mut ());
        // SAFETY: as the caller guarantees; for the registers see above.
        unsafe {
            asm!(
                "svc {class}",
                class = const TOCK_YIELD,
                inlateout("r0") kind.as_ptr::<()>() => r0,
                inlateout("r1") first.as_ptr::<()>() => r1,
                inlateout("r2") second.as_ptr::<()>() => r2,
                clobber_abi("C"),
            );
        }
        [r0.into(), r1.into(), r2.into()]
    }

    #[inline(always)]
    unsafe fn syscall1<const CLASS: u32>([first]: [Register; 1]) -> Returned {
        let (r0, r1, r2, r3): (*mut (), *mut (), *mut (), *mut ());
        // SAFETY: as the caller guarantees; for the registers see above.
        unsafe {
            asm!(
                "svc {class}",
                class = const CLASS,
                inlateout("r0") first.as_ptr::<()>() => r0,
                lateout("r1") r1,
                lateout("r2") r2,
                lateout("r3") r3,
                options(nostack, preserves_flags),
            );
        }
        [r0.into(), r1.into(), r2.into(), r3.into()]
    }

    #[inline(always)]
    unsafe fn syscall2<const CLASS: u32>([first, second]: [Register; 2]) -> Returned {
        let (r0, r1, r2, r3): (*mut (), *mut (), *mut (), *mut ());
        // SAFETY: as the caller guarantees; for the registers see above.
        unsafe {
            asm!(
                "svc {class}",
                class = const CLASS,
                inlateout("r0") first.as_ptr::<()>() => r0,
                inlateout("r1") second.as_ptr::<()>() => r1,
                lateout("r2") r2,
                lateout("r3") r3,
                options(nostack, preserves_flags),
            );
        }
        [r0.into(), r1.into(), r2.into(), r3.into()]
    }

    #[inline(always)]
    unsafe fn syscall4<const CLASS: u32>([a, b, c, d]: [Register; 4]) -> Returned {
        let (r0, r1, r2, r3): (*mut (), *mut (), *mut (), *mut ());
        // SAFETY: as the caller guarantees; for the registers see above.
        unsafe {
            asm!(
                "svc {class}",
                class = const CLASS,
                inlateout("r0") a.as_ptr::<()>() => r0,
                inlateout("r1") b.as_ptr::<()>() => r1,
                inlateout("r2") c.as_ptr::<()>() => r2,
                inlateout("r3") d.as_ptr::<()>() => r3,
                options(nostack, preserves_flags),
            );
        }
        [r0.into(), r1.into(), r2.into(), r3.into()]
    }
}
