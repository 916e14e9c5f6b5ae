// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Memory operations, buffers, and the settings of the PMP.

use super::*;
use crate::drivers::{alarm, perf};
use crate::region::Region;

#[test]
fn the_break_moves_within_the_apps_ram_and_the_pmp_follows() {
    let mut kernel = boot(apps(&["one"]));
    let ram = || host::with(|machine| machine.protected.1);
    assert_eq!(ram().length(), 0, "nothing until it is asked for");
    assert_eq!(kernel.memory_operation(0, RAM + 101), Return::Success);
    assert_eq!(ram(), Region::new(RAM, RAM + 104), "whole words");
    assert_eq!(kernel.memory_operation(1, 8), Return::U32(RAM + 101));
    assert_eq!(kernel.memory_operation(1, 0), Return::U32(RAM + 109));
    let back = kernel.memory_operation(1, (-109_i32) as u32);
    assert_eq!(back, Return::U32(RAM + 109));
    assert_eq!(ram().length(), 0);
    assert_eq!(kernel.memory_operation(0, RAM + RAM_EACH), Return::Success);
}

#[test]
fn the_break_cannot_leave_the_apps_ram() {
    let mut kernel = boot(apps(&["one"]));
    let refused = failure(ErrorCode::NoMemory);
    for end in [RAM - 1, RAM + RAM_EACH + 1, 0, u32::MAX] {
        assert_eq!(kernel.memory_operation(0, end), refused);
    }
    for step in [-1, RAM_EACH as i32 + 1, i32::MIN, i32::MAX] {
        assert_eq!(kernel.memory_operation(1, step as u32), refused);
    }
}

#[test]
fn an_app_can_read_its_addresses() {
    let mut kernel = boot(apps(&["one", "two"]));
    let answers: Vec<Return> = (2..=7).map(|n| kernel.memory_operation(n, 0)).collect();
    let end = RAM + RAM_EACH;
    let expected = [RAM, end, FLASH, FLASH + FLASH_EACH, end, 0];
    assert_eq!(answers, expected.map(Return::U32));
    assert_eq!(kernel.memory_operation(10, 1), Return::Success);
    for operation in [8, 9] {
        let none = kernel.memory_operation(operation, 0);
        assert_eq!(none, failure(ErrorCode::Fail), "no writeable flash region");
    }
    let unknown = kernel.memory_operation(12, 0);
    assert_eq!(unknown, failure(ErrorCode::NoSupport));
}

#[test]
fn allow_swaps() {
    let mut kernel = boot(apps(&["one"]));
    kernel.memory_operation(0, RAM + 1024);
    for class in [class::READ_ONLY_ALLOW, class::READ_WRITE_ALLOW] {
        assert_eq!(kernel.allow(class, 1, RAM + 8, 16), Return::Pair(0, 0));
        assert_eq!(kernel.allow(class, 1, RAM, 1024), Return::Pair(RAM + 8, 16));
        assert_eq!(kernel.allow(class, 1, 0, 0), Return::Pair(RAM, 1024));
    }
}

#[test]
fn a_buffer_must_be_the_apps_own() {
    let mut kernel = boot(apps(&["one", "two"]));
    kernel.memory_operation(0, RAM + 1024);
    let outside = [
        (RAM - 1, 2),
        (RAM, 1025),
        (RAM + 1024, 1),
        (ram_of(1), 4),
        (flash_of(1), 4),
        (flash_of(0) + FLASH_EACH - 2, 4),
        (0, 4),
        (RAM + 16, u32::MAX),
        (u32::MAX - 3, 8),
        (RAM + 16, RAM.wrapping_neg()),
    ];
    for class in [class::READ_ONLY_ALLOW, class::READ_WRITE_ALLOW] {
        for (address, length) in outside {
            let result = kernel.allow(class, 1, address, length);
            let refused = Return::FailurePair(ErrorCode::Invalid, address, length);
            assert_eq!(result, refused, "{address:#x} {length:#x}");
        }
        // An empty buffer may have any address.
        assert_eq!(kernel.allow(class, 1, 0xDEAD_BEEF, 0), Return::Pair(0, 0));
        let back = kernel.allow(class, 1, 0, 0);
        assert_eq!(back, Return::Pair(0xDEAD_BEEF, 0));
    }
}

#[test]
fn only_a_read_only_buffer_may_be_in_flash() {
    let mut kernel = boot(apps(&["one"]));
    let read_only = kernel.allow(class::READ_ONLY_ALLOW, 1, FLASH, FLASH_EACH);
    assert_eq!(read_only, Return::Pair(0, 0));
    let read_write = kernel.allow(class::READ_WRITE_ALLOW, 1, FLASH, 4);
    assert_eq!(
        read_write,
        Return::FailurePair(ErrorCode::Invalid, FLASH, 4)
    );
}

#[test]
fn a_buffer_that_no_driver_has_is_refused() {
    let mut kernel = boot(apps(&["one"]));
    let number = kernel.allow(class::READ_ONLY_ALLOW, 2, FLASH, 4);
    assert_eq!(number, Return::FailurePair(ErrorCode::NoSupport, FLASH, 4));
    let worse = kernel.allow(class::READ_ONLY_ALLOW, 2, 0, 4);
    assert_eq!(worse, Return::FailurePair(ErrorCode::Invalid, 0, 4));
    let driver = kernel.call(class::READ_WRITE_ALLOW, [99, 0, 0, 0]);
    let refused = Return::FailurePair(ErrorCode::NoDevice, 0, 0);
    assert_eq!(driver, refused);
}

#[test]
fn the_pmp_is_written_when_something_changes_and_only_then() {
    let mut kernel = boot(apps(&["one", "two"]));
    let writes = || host::with(|machine| machine.pmp_writes);
    let before = writes();
    kernel.subscribe_to(perf::NUMBER, 0, FLASH + 0x200, 0);
    kernel.allow(class::READ_ONLY_ALLOW, 1, FLASH, 4);
    for driver in [alarm::NUMBER, perf::NUMBER, 77] {
        kernel.command_to(driver, 0, 0, 0);
    }
    kernel.memory_operation(2, 0);
    kernel.command_to(perf::NUMBER, 8, 0, 0);
    kernel.wait();
    kernel.ecall(class::YIELD, [0, 0, 0, 0]);
    kernel.interrupt();
    assert_eq!((kernel.current, writes()), (0, before));
    kernel.memory_operation(0, RAM + 64);
    assert_eq!(writes(), before + 1);
    kernel.wait();
    assert_eq!((kernel.current, writes()), (1, before + 2));
}
