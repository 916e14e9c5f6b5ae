// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Version 1 of the interface on the fake machine: only what differs from version 2, whose tests cover the
//! rest.

use crate::abi::PERF;
use crate::arch::{Hardware, Machine, host};
use crate::drivers::{alarm, console, debug, ipc};
use crate::kernel::Kernel;
use crate::loader::find_apps;
use crate::region::Region;
use crate::syscall::Next;
use crate::tbf::tests::{Numbers, app, usual};
use crate::upcall::PER_SENDER;
use crate::v1::class;
use proptest::prelude::*;

const FLASH: u32 = 0x2003_0000;
const FLASH_EACH: u32 = 1024;
const RAM: u32 = 0x1000_2000;
const RAM_EACH: u32 = 4096;
const FUNCTION: u32 = FLASH + 0x200;

/// Boots two applications without a kernel version in their headers, as was common. Each has 1 KiB of RAM.
fn boot() -> Kernel {
    let mut flash = Vec::new();
    for (name, index) in [("client", 0), ("service", 1)] {
        let mut entries = usual(name, RAM + index * RAM_EACH, u32::MAX, RAM_EACH);
        entries.pop();
        flash.extend(app(&entries, FLASH_EACH, 1));
    }
    host::with(|machine| machine.flash[..flash.len()].copy_from_slice(&flash));
    let mut kernel = Kernel::new();
    kernel.start(&find_apps(flash.leak(), FLASH, Hardware::app_ram()));
    kernel.schedule();
    assert_eq!(kernel.memop(0, RAM + 1024), Next::Same);
    kernel
}

impl Kernel {
    /// Makes an `ecall` of the current process, as the trap path does, and returns a0.
    fn ecall(&mut self, class: u32, [a1, a2, a3, a4]: [u32; 4]) -> i32 {
        let words = [class, a1, a2, a3, a4];
        if self.system_call(words) == Next::Other {
            self.schedule();
        }
        let registers = self.registers();
        if class != class::YIELD {
            assert_eq!(registers[1..], [a1, a2, a3], "kept");
        }
        registers[0] as i32
    }

    fn registers(&mut self) -> [u32; 4] {
        self.frame().words()[10..14].try_into().unwrap()
    }

    fn command_to(&mut self, driver: u32, number: u32, first: u32, second: u32) -> i32 {
        self.ecall(class::COMMAND, [driver, number, first, second])
    }

    fn subscribe_to(&mut self, driver: u32, number: u32, function: u32) -> i32 {
        self.ecall(class::SUBSCRIBE, [driver, number, function, 7])
    }

    fn allow(&mut self, driver: u32, number: u32, address: u32, length: u32) -> i32 {
        self.ecall(class::ALLOW, [driver, number, address, length])
    }
}

#[test]
fn a_result_is_one_signed_word() {
    let mut kernel = boot();
    assert_eq!(kernel.command_to(console::NUMBER, 0, 0, 0), 0);
    assert_eq!(kernel.command_to(debug::NUMBER, 0, 0, 0), 0);
    assert_eq!(kernel.command_to(alarm::NUMBER, 0, 0, 0), 1, "one alarm");
    assert_eq!(kernel.command_to(alarm::NUMBER, 1, 0, 0), 1_000_000);
    assert_eq!(kernel.command_to(console::NUMBER, 99, 0, 0), -10);
    assert_eq!(kernel.command_to(0x9_0010, 0, 0, 0), -11);
    for class in 5..9 {
        assert_eq!(kernel.ecall(class, [0; 4]), -10);
    }
}

#[test]
fn perf_has_four_commands() {
    let mut kernel = boot();
    host::with(|machine| machine.cycles = 0x8000_0000);
    assert_eq!(kernel.command_to(PERF, 0, 0, 0), 0);
    let first = kernel.command_to(PERF, 1, 0, 0);
    assert_eq!(first as u32, 0x8000_0001, "a counter is no error");
    assert_eq!(kernel.command_to(PERF, 2, 0, 0), first + 1);
    for number in [3, 4, 5, 6, 7, 9, u32::MAX] {
        assert_eq!(kernel.command_to(PERF, number, 0, 0), -10);
    }
    assert_eq!(kernel.subscribe_to(PERF, 0, FUNCTION), 0);
    assert_eq!(kernel.command_to(PERF, 8, 55, 0), 0);
    kernel.ecall(class::YIELD, [0; 4]);
    assert_eq!(kernel.registers()[2..], [55, 7]);
    assert_eq!(kernel.frame().pc(), FUNCTION);
}

#[test]
fn yield_waits() {
    let mut kernel = boot();
    kernel.subscribe_to(alarm::NUMBER, 0, FUNCTION);
    // The old command sets an alarm at an absolute time.
    assert_eq!(kernel.command_to(alarm::NUMBER, 4, 500, 0), 500);
    kernel.ecall(class::YIELD, [0; 4]);
    assert_eq!(kernel.current, 1);
    kernel.ecall(class::YIELD, [0; 4]);
    assert_eq!(kernel.registers(), [500, 500, 0, 7]);
}

#[test]
fn subscribe_and_allow_replace_silently() {
    let mut kernel = boot();
    for number in [1, 1] {
        assert_eq!(kernel.subscribe_to(console::NUMBER, number, FUNCTION), 0);
        assert_eq!(kernel.allow(console::NUMBER, number, RAM, 64), 0);
    }
    assert_eq!(kernel.allow(console::NUMBER, 1, 0, 64), 0, "taken back");
    assert_eq!(kernel.subscribe_to(console::NUMBER, 1, 0), 0);
    assert_eq!(kernel.subscribe_to(console::NUMBER, 1, RAM), -6);
    assert_eq!(kernel.subscribe_to(console::NUMBER, 9, FUNCTION), -10);
    assert_eq!(kernel.subscribe_to(77, 0, FUNCTION), -11);
    for (address, length) in [
        (FLASH, 4),
        (RAM, 1025),
        (RAM + RAM_EACH, 4),
        (RAM, u32::MAX),
    ] {
        assert_eq!(kernel.allow(console::NUMBER, 1, address, length), -6);
    }
    assert_eq!(kernel.allow(console::NUMBER, 9, RAM, 4), -10);
    assert_eq!(kernel.allow(77, 0, RAM, 4), -11);
}

#[test]
fn console_writes() {
    let mut kernel = boot();
    host::with(|machine| machine.ram[..3].copy_from_slice(b"hi\n"));
    kernel.allow(console::NUMBER, 1, RAM, 3);
    kernel.subscribe_to(console::NUMBER, 1, FUNCTION);
    assert_eq!(kernel.command_to(console::NUMBER, 1, 3, 0), 0);
    assert_eq!(kernel.command_to(console::NUMBER, 1, 3, 0), -2);
    kernel.ecall(class::YIELD, [0; 4]);
    kernel.ecall(class::YIELD, [0; 4]);
    assert_eq!(kernel.registers(), [3, 0, 0, 7]);
    assert!(host::with(|machine| machine.sent.ends_with("hi\n")));
}

#[test]
fn a_buffer_taken_back_before_its_turn_blocks_nobody() {
    let mut kernel = boot();
    kernel.allow(console::NUMBER, 1, RAM, 3);
    kernel.subscribe_to(console::NUMBER, 1, FUNCTION);
    kernel.command_to(console::NUMBER, 1, 3, 0);
    kernel.ecall(class::YIELD, [0; 4]);
    assert_eq!(kernel.current, 1);
    kernel.memop(0, RAM + RAM_EACH + 1024);
    kernel.allow(console::NUMBER, 1, RAM + RAM_EACH, 3);
    kernel.command_to(console::NUMBER, 1, 3, 0);
    kernel.allow(console::NUMBER, 1, 0, 0);
    Hardware::wait_for_interrupt();
    kernel.interrupt();
    kernel.ecall(class::YIELD, [0; 4]);
    assert_eq!(kernel.current, 0);
    assert_eq!(kernel.command_to(console::NUMBER, 1, 3, 0), 0);
    kernel.ecall(class::YIELD, [0; 4]);
    assert_eq!(kernel.registers(), [3, 0, 0, 7], "it is heard again");
}

#[test]
fn memory_operations() {
    let mut kernel = boot();
    let mut memop = |operation, argument| kernel.ecall(class::MEMOP, [operation, argument, 0, 0]);
    assert_eq!(memop(0, RAM + 64), 0);
    assert_eq!(memop(1, 8), (RAM + 64) as i32);
    assert_eq!(memop(0, RAM - 1), -9);
    assert_eq!(memop(2, 0), RAM as i32);
    assert_eq!(memop(4, 0), FLASH as i32);
    assert_eq!(memop(7, 0), 0);
    assert_eq!(memop(8, 0), -1);
    assert_eq!(memop(12, 0), -10);
}

#[test]
fn ipc_by_numbers_from_one() {
    let mut kernel = boot();
    host::with(|machine| machine.ram[..7].copy_from_slice(b"service"));
    assert_eq!(kernel.allow(ipc::NUMBER, 0, RAM, 7), 2);
    for (address, length) in [(RAM, 6), (RAM, 8), (0, 0), (FLASH, 7)] {
        assert_eq!(kernel.allow(ipc::NUMBER, 0, address, length), -6);
    }
    for nobody in [0, 3, 4, 5, u32::MAX] {
        assert_eq!(kernel.command_to(ipc::NUMBER, nobody, 0, 0), -6);
        if nobody > 0 {
            assert_eq!(kernel.subscribe_to(ipc::NUMBER, nobody, FUNCTION), -6);
            assert_eq!(kernel.allow(ipc::NUMBER, nobody, RAM, 4), -6);
        }
    }
    assert_eq!(kernel.subscribe_to(ipc::NUMBER, 2, FUNCTION), 0);
    assert_eq!(kernel.allow(ipc::NUMBER, 2, RAM, 64), 0);
    for _ in 0..PER_SENDER {
        assert_eq!(kernel.command_to(ipc::NUMBER, 2, 0, 0), 0);
    }
    assert_eq!(kernel.command_to(ipc::NUMBER, 2, 0, 0), -1, "full");
    kernel.ecall(class::YIELD, [0; 4]);
    // The service runs.
    assert_eq!(kernel.current, 1);
    let function = FUNCTION + FLASH_EACH;
    assert_eq!(kernel.subscribe_to(ipc::NUMBER, 0, function), 0);
    kernel.ecall(class::YIELD, [0; 4]);
    assert_eq!(kernel.frame().pc(), function);
    assert_eq!(kernel.registers(), [1, 64, RAM, 7]);
    let window = host::with(|machine| machine.windows[0]);
    assert_eq!(window, Region::new(RAM, RAM + 64));
    assert_eq!(kernel.command_to(ipc::NUMBER, 1, 1, 0), 0);
    for _ in 0..PER_SENDER {
        kernel.ecall(class::YIELD, [0; 4]);
    }
    // The client runs again.
    assert_eq!(kernel.current, 0);
    assert_eq!(kernel.frame().pc(), FUNCTION);
    assert_eq!(kernel.registers(), [2, 0, 0, 7]);
}

proptest! {
    /// For any calls of the two, the running process can access its own memory and the other one's shared
    /// buffer, nothing else. (Only one of them waits at a time, so there is always a process to run.)
    #[test]
    fn arbitrary_calls_open_nothing(seed in 1..u64::MAX) {
        host::reset();
        let mut kernel = boot();
        let mut numbers = Numbers(seed);
        let drivers = [alarm::NUMBER, console::NUMBER, debug::NUMBER, ipc::NUMBER, ipc::NUMBER, PERF, 77];
        for _ in 0..200 {
            let first = kernel.current as u32;
            let driver = drivers[numbers.below(7) as usize];
            let address = match numbers.below(4) {
                0 => RAM + first * RAM_EACH + 4 * numbers.below(300),
                1 => FUNCTION + first * FLASH_EACH,
                2 => numbers.below(3),
                _ => numbers.below(u32::MAX),
            };
            let (number, size) = (numbers.below(4), 4 * numbers.below(16));
            let (call, arguments) = match numbers.below(16) {
                0 => (class::MEMOP, [number, address, 0, 0]),
                1 => (5 + numbers.below(1 << 31), [number, address, 0, 0]),
                2..5 if kernel.processes[1 - kernel.current].is_runnable() => {
                    (class::YIELD, [0; 4])
                }
                2..6 => (class::SUBSCRIBE, [driver, number, address, 0]),
                6..10 => (class::ALLOW, [driver, number, address, size]),
                _ => (class::COMMAND, [driver, number, numbers.below(2), address]),
            };
            let words = [call, arguments[0], arguments[1], arguments[2], arguments[3]];
            if kernel.system_call(words) == Next::Other {
                kernel.schedule();
            }
            host::with(|machine| machine.now += 3_000);
            kernel.interrupt();

            let (process, other) = (&kernel.processes[kernel.current], 1 - kernel.current);
            let (protected, windows) = host::with(|machine| (machine.protected, machine.windows));
            prop_assert_eq!(protected, (process.app.flash, process.protected_ram()));
            prop_assert!(process.app.ram.covers(protected.1));
            let shared = kernel.processes[other].read_write[1 + kernel.current].region();
            let right = |window: &Region| window.length() == 0 || *window == shared;
            prop_assert!(windows.iter().all(right), "{:?} {}", windows, shared);
        }
    }
}
