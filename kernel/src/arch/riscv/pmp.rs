// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Memory protection: what user mode may reach.
//!
//! | entry | what | for user mode |
//! |---|---|---|
//! | 0, 1 | the running application's flash | read, execute |
//! | 2, 3 | the running application's RAM | read, write |
//! | 4 to 9 | up to three buffers that others share with it | read, write |
//! | 14 | all addresses | nothing |
//! | 15 | all addresses, locked by the boot ROM | everything, were it not for entry 14 |
//!
//! The lowest entry that matches decides. Machine mode is bound by locked entries only, so the kernel
//! passes entry 14 by its being unlocked, and the first ones too. That closes to user mode what
//! machine-mode lockdown would; lockdown itself would close applications' memory to the kernel, which
//! reads their buffers.

use crate::region::{Region, pmp};
use crate::sharing::WINDOWS;
use riscv::register::{pmpaddr0, pmpaddr1, pmpaddr2, pmpaddr3, pmpaddr14};
use riscv::register::{pmpaddr4, pmpaddr5, pmpaddr6, pmpaddr7, pmpaddr8, pmpaddr9};
use riscv::register::{pmpcfg0, pmpcfg1, pmpcfg2, pmpcfg3};

/// An address register of all ones, in NAPOT mode, is all of the address space.
const ALL_ADDRESSES: usize = usize::MAX;

/// Closes all memory to user mode. Called once.
pub fn set_up() {
    let flash = pmp::TOP_OF_RANGE | pmp::READ | pmp::EXECUTE;
    let ram = pmp::TOP_OF_RANGE | pmp::READ | pmp::WRITE;
    let regions = u32::from_le_bytes([pmp::OFF, flash, pmp::OFF, ram]);
    let two_windows = u32::from_le_bytes([pmp::OFF, ram, pmp::OFF, ram]);
    let third_window = u32::from_le_bytes([pmp::OFF, ram, 0, 0]);
    let deny = u32::from_le_bytes([0, 0, pmp::NAPOT, 0]);
    protect(Region::EMPTY, Region::EMPTY);
    open_windows([Region::EMPTY; WINDOWS]);
    let boot_rom_entry = pmpcfg3::read().bits & 0xFF00_0000;
    // Safety: none of these entries is locked, so none binds the kernel itself; entry 15, which
    // does, is written back as it is.
    unsafe {
        pmpaddr14::write(ALL_ADDRESSES);
        pmpcfg3::write(boot_rom_entry | deny as usize);
        pmpcfg2::write(third_window as usize);
        pmpcfg1::write(two_windows as usize);
        pmpcfg0::write(regions as usize);
    }
    // What a boot ROM has locked stays as it is, and could open what must be closed.
    let right = pmpcfg0::read().bits == regions as usize
        && pmpcfg1::read().bits == two_windows as usize
        && pmpcfg2::read().bits == third_window as usize
        && pmpcfg3::read().bits == boot_rom_entry | deny as usize
        && pmpaddr14::read() == ALL_ADDRESSES;
    assert!(right, "the boot ROM has locked PMP entries below 15");
}

/// Opens an application's flash and RAM to user mode, in the place of the last one's.
pub fn protect(flash: Region, ram: Region) {
    let [flash_start, flash_end] = flash.pmp_pair();
    let [ram_start, ram_end] = ram.pmp_pair();
    // Safety: these entries are unlocked, so they bind user mode only; and user mode does not run
    // while they are half written.
    unsafe {
        pmpaddr0::write(flash_start as usize);
        pmpaddr1::write(flash_end as usize);
        pmpaddr2::write(ram_start as usize);
        pmpaddr3::write(ram_end as usize);
    }
}

/// Opens buffers of other applications to user mode, in the place of the last ones.
pub fn open_windows(windows: [Region; WINDOWS]) {
    let [first, second, third] = windows.map(|window| window.pmp_pair().map(|word| word as usize));
    // Safety: as in `protect`.
    unsafe {
        pmpaddr4::write(first[0]);
        pmpaddr5::write(first[1]);
        pmpaddr6::write(second[0]);
        pmpaddr7::write(second[1]);
        pmpaddr8::write(third[0]);
        pmpaddr9::write(third[1]);
    }
}
