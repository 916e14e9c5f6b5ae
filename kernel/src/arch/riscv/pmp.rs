// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Memory protection: which memory user mode may access.
//!
//! | entry | memory | access from user mode |
//! |---|---|---|
//! | 0, 1 | the running application's flash | read, execute |
//! | 2, 3 | the running application's RAM | read, write |
//! | 4 to 9 (to 13 with eight processes) | buffers that others share with it, one pair each | read, write |
//! | 14 | all addresses | nothing |
//! | 15 | all addresses, locked by the boot ROM | everything, but entry 14 comes first |
//!
//! The lowest entry that matches decides. Only locked entries bind machine mode, so entry 14 and those
//! before it do not bind the kernel. For user mode this closes the same memory as machine-mode
//! lockdown. Lockdown itself would also close applications' memory to the kernel, which reads their
//! buffers.

use crate::region::{Region, pmp};
use crate::sharing::WINDOWS;
use riscv::register::{pmpaddr0, pmpaddr1, pmpaddr2, pmpaddr3, pmpaddr4, pmpaddr5, pmpaddr6};
use riscv::register::{pmpaddr7, pmpaddr8, pmpaddr9, pmpaddr10, pmpaddr11, pmpaddr12, pmpaddr13};
use riscv::register::{pmpaddr14, pmpcfg0, pmpcfg1, pmpcfg2, pmpcfg3};

/// An address register with all bits set, in NAPOT mode, matches the whole address space.
const ALL_ADDRESSES: usize = usize::MAX;

/// Closes all memory to user mode. Called once.
#[cfg(not(feature = "pmp-8"))]
pub fn set_up() {
    let flash = pmp::TOP_OF_RANGE | pmp::READ | pmp::EXECUTE;
    let ram = pmp::TOP_OF_RANGE | pmp::READ | pmp::WRITE;
    let regions = u32::from_le_bytes([pmp::OFF, flash, pmp::OFF, ram]);
    let window = |number: usize| if number < WINDOWS { ram } else { pmp::OFF };
    let first_windows = u32::from_le_bytes([pmp::OFF, window(0), pmp::OFF, window(1)]);
    let next_windows = u32::from_le_bytes([pmp::OFF, window(2), pmp::OFF, window(3)]);
    let deny = u32::from_le_bytes([pmp::OFF, window(4), pmp::NAPOT, 0]);
    protect(Region::EMPTY, Region::EMPTY);
    open_windows([Region::EMPTY; WINDOWS]);
    let boot_rom_entry = pmpcfg3::read().bits & 0xFF00_0000;
    // Safety: none of these entries is locked, so none binds the kernel. Entry 15 is, and is written
    // back unchanged.
    unsafe {
        pmpaddr14::write(ALL_ADDRESSES);
        pmpcfg3::write(boot_rom_entry | deny as usize);
        pmpcfg2::write(next_windows as usize);
        pmpcfg1::write(first_windows as usize);
        pmpcfg0::write(regions as usize);
    }
    // Entries that a boot ROM has locked do not change, and might open memory that must be closed.
    let right = pmpcfg0::read().bits == regions as usize
        && pmpcfg1::read().bits == first_windows as usize
        && pmpcfg2::read().bits == next_windows as usize
        && pmpcfg3::read().bits == boot_rom_entry | deny as usize
        && pmpaddr14::read() == ALL_ADDRESSES;
    assert!(right, "the boot ROM has locked PMP entries below 15");
}

/// Opens an application's flash and RAM to user mode, and closes the previous application's.
pub fn protect(flash: Region, ram: Region) {
    let [flash_start, flash_end] = flash.pmp_pair();
    let [ram_start, ram_end] = ram.pmp_pair();
    // Safety: these entries are unlocked, so they bind user mode only, and user mode does not run
    // while they are half written.
    unsafe {
        pmpaddr0::write(flash_start as usize);
        pmpaddr1::write(flash_end as usize);
        pmpaddr2::write(ram_start as usize);
        pmpaddr3::write(ram_end as usize);
    }
}

/// Opens buffers of other applications to user mode, and closes the previous ones.
pub fn open_windows(windows: [Region; WINDOWS]) {
    macro_rules! write {
        ($($number:literal $start:ident $end:ident),+) => {$(
            if let Some(window) = windows.get($number) {
                let [start, end] = window.pmp_pair();
                // Safety: as in `protect`.
                unsafe {
                    $start::write(start as usize);
                    $end::write(end as usize);
                }
            }
        )+};
    }
    write!(
        0 pmpaddr4 pmpaddr5, 1 pmpaddr6 pmpaddr7, 2 pmpaddr8 pmpaddr9, 3 pmpaddr10 pmpaddr11,
        4 pmpaddr12 pmpaddr13
    );
}

/// Closes all memory to user mode on a core with eight entries: 4 and 5 are one buffer, 6 has the role
/// of entry 14 above, and 7 that of entry 15. If the core has more entries, the rest are off. An app that
/// accesses two buffers with one instruction never has both: it faults again and again, in its own time.
#[cfg(feature = "pmp-8")]
pub fn set_up() {
    let flash = pmp::TOP_OF_RANGE | pmp::READ | pmp::EXECUTE;
    let ram = pmp::TOP_OF_RANGE | pmp::READ | pmp::WRITE;
    let regions = u32::from_le_bytes([pmp::OFF, flash, pmp::OFF, ram]) as usize;
    let deny = u32::from_le_bytes([pmp::OFF, ram, pmp::NAPOT, 0]) as usize;
    protect(Region::EMPTY, Region::EMPTY);
    open_windows([Region::EMPTY; WINDOWS]);
    let (seventh, last) = (pmpcfg1::read().bits & LAST, pmpcfg3::read().bits & LAST);
    // Safety: as above; an entry that a boot ROM has locked is written back unchanged.
    unsafe {
        pmpaddr14::write(0);
        pmpcfg3::write(last);
        pmpcfg2::write(0);
        pmpaddr6::write(ALL_ADDRESSES);
        pmpcfg1::write(seventh | deny);
        pmpcfg0::write(regions);
    }
    let right = pmpcfg0::read().bits == regions
        && pmpcfg1::read().bits == seventh | deny
        && pmpaddr6::read() == ALL_ADDRESSES;
    assert!(right, "the boot ROM has locked PMP entries below 7");
}

/// The bits of the last entry in its configuration register.
#[cfg(feature = "pmp-8")]
const LAST: usize = 0xFF00_0000;
