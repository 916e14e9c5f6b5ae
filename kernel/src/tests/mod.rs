// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The whole kernel on the fake machine, as applications see it, call by call.

mod arbitrary;
mod calls;
mod console;
mod crypto;
mod halfway;
mod input;
mod ipc;
mod loading;
mod memory;
mod relay;
mod scheduling;

use crate::abi::{ErrorCode, Return};
use crate::arch::{Hardware, Machine, host};
use crate::kernel::Kernel;
use crate::loader::find_apps;
use crate::syscall::Next;
use crate::tbf::tests::{app, usual};
use crate::v2::class;

/// Addresses of applications: 1 KiB of flash and 4 KiB of RAM each.
const FLASH: u32 = 0x2003_0000;
const FLASH_EACH: u32 = 1024;
const RAM: u32 = 0x1000_2000;
const RAM_EACH: u32 = 4096;

fn flash_of(index: u32) -> u32 {
    FLASH + index * FLASH_EACH
}

fn ram_of(index: u32) -> u32 {
    RAM + index * RAM_EACH
}

/// Loads the contents of flash, as the kernel does when it starts, and runs the first application.
fn boot(flash: Vec<u8>) -> Kernel {
    let mut kernel = load(flash);
    kernel.schedule();
    kernel
}

fn load(flash: Vec<u8>) -> Kernel {
    host::with(|machine| machine.flash[..flash.len()].copy_from_slice(&flash));
    let flash: &'static [u8] = flash.leak();
    let mut kernel = Kernel::new();
    kernel.start(&find_apps(flash, FLASH, Hardware::app_ram()));
    kernel
}

/// Lets the UART send its bytes while a process runs.
fn send_fifo_while_running(kernel: &mut Kernel) {
    Hardware::wait_for_interrupt();
    kernel.interrupt();
}

/// Lets the UART send the bytes of all processes.
fn send_everything(kernel: &mut Kernel) {
    while host::with(|machine| !machine.fifo.is_empty()) {
        send_fifo_while_running(kernel);
    }
}

/// Ordinary applications with these names, one after the other.
fn apps(names: &[&str]) -> Vec<u8> {
    let mut flash = Vec::new();
    for (name, index) in names.iter().zip(0..) {
        // The header's size does not depend on the address, so a first try gives it.
        let entries = |start| usual(name, ram_of(index), start, RAM_EACH);
        let header_size = app_header_size(&app(&entries(0), FLASH_EACH, 1));
        flash.extend(app(&entries(flash_of(index) + header_size), FLASH_EACH, 1));
    }
    flash
}

fn app_header_size(image: &[u8]) -> u32 {
    u32::from(u16::from_le_bytes([image[2], image[3]]))
}

/// All text that was printed so far.
fn printed() -> String {
    host::with(|machine| machine.sent.clone() + &String::from_utf8_lossy(&machine.fifo))
}

impl Kernel {
    /// Makes an `ecall` of the current process, as the trap path does.
    fn ecall(&mut self, class: u32, arguments: [u32; 4]) {
        let [a0, a1, a2, a3] = arguments;
        let words = [a0, a1, a2, a3, class];
        if self.system_call(words) == Next::Other {
            self.schedule();
        }
    }

    /// Makes an `ecall` and reads its result from the registers.
    fn call(&mut self, class: u32, arguments: [u32; 4]) -> Return {
        self.ecall(class, arguments);
        let (.., [variant, a1, a2, a3]) = self.registers();
        match variant {
            0 => Return::Failure(error_code(a1)),
            2 => Return::FailurePair(error_code(a1), a2, a3),
            128 => Return::Success,
            129 => Return::U32(a1),
            130 => Return::Pair(a1, a2),
            131 => Return::U64(u64::from(a2) << 32 | u64::from(a1)),
            _ => panic!("no such variant: {variant}"),
        }
    }

    fn command_to(&mut self, driver: u32, number: u32, first: u32, second: u32) -> Return {
        let arguments = [driver, number, first, second];
        self.call(class::COMMAND, arguments)
    }

    fn subscribe_to(&mut self, driver: u32, number: u32, function: u32, userdata: u32) -> Return {
        let arguments = [driver, number, function, userdata];
        self.call(class::SUBSCRIBE, arguments)
    }

    fn allow(&mut self, class: u32, number: u32, address: u32, length: u32) -> Return {
        let arguments = [crate::drivers::console::NUMBER, number, address, length];
        self.call(class, arguments)
    }

    fn memory_operation(&mut self, operation: u32, argument: u32) -> Return {
        let arguments = [operation, argument, 0, 0];
        self.call(class::MEMOP, arguments)
    }

    fn wait(&mut self) {
        self.ecall(class::YIELD, [1, 0, 0, 0]);
    }

    /// The current process's program counter, return address and a0 to a3.
    fn registers(&mut self) -> (u32, u32, [u32; 4]) {
        let words = self.frame().words();
        (words[0], words[1], words[10..14].try_into().unwrap())
    }
}

fn failure(error: ErrorCode) -> Return {
    Return::Failure(error)
}

fn error_code(code: u32) -> ErrorCode {
    use ErrorCode::*;
    let codes = [
        Fail, Busy, Already, Invalid, Size, NoMemory, NoSupport, NoDevice,
    ];
    let error = codes
        .into_iter()
        .find(|candidate| *candidate as u32 == code);
    error.expect("a known error code")
}
