// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The system calls: one function each, all of one signature, from the four argument words to what
//! is to run [`Next`]. A call's result goes into the calling process's registers.
//!
//! Perf's commands go before all others: an application reads the clock with them, and what that
//! costs is in every measurement. Nothing is special about their path but that it is short.

use crate::abi::{ErrorCode, Return, class};
use crate::drivers::{self, Call, alarm, console, debug, perf};
use crate::kernel::Kernel;
use crate::process::{Process, State, Subscription};
use crate::region::Region;
use crate::umem::{UserBuffer, write_byte};
use crate::upcall::UpcallId;

/// Who runs after a system call.
#[derive(Debug, PartialEq, Eq)]
pub enum Next {
    /// The process that called.
    Same,
    /// The process waits, or has ended: another one.
    Other,
}

impl Kernel {
    /// Carries out a system call of the current process if it is a quick one, one of Perf's
    /// commands; the caller puts the result into the process's registers.
    #[inline(always)]
    pub fn quick_call(&mut self, class: u32, arguments: [u32; 4]) -> Option<Return> {
        let [driver, number, first, second] = arguments;
        if class != class::COMMAND || driver != perf::NUMBER {
            return None;
        }
        let call = Call {
            process: self.current,
            number,
            arguments: [first, second],
        };
        Some(perf::command(call, &mut self.processes))
    }

    /// Carries out a system call of the current process that is not quick.
    #[inline(always)]
    pub fn slow_call(&mut self, class: u32, [a, b, c, d]: [u32; 4]) -> Next {
        match class {
            class::YIELD => self.yield_(a, b, c, d),
            class::SUBSCRIBE => self.subscribe(a, b, c, d),
            class::COMMAND => self.command(a, b, c, d),
            class::READ_WRITE_ALLOW => self.read_write_allow(a, b, c, d),
            class::READ_ONLY_ALLOW => self.read_only_allow(a, b, c, d),
            class::MEMOP => self.memop(a, b, c, d),
            class::EXIT => self.exit(a, b, c, d),
            class::USERSPACE_READABLE_ALLOW => self.userspace_readable_allow(a, b, c, d),
            _ => self.process().fail(ErrorCode::NoSupport),
        }
    }

    #[inline(never)]
    fn command(&mut self, driver: u32, number: u32, first: u32, second: u32) -> Next {
        let call = Call {
            process: self.current,
            number,
            arguments: [first, second],
        };
        let result = match driver {
            console::NUMBER => self.console.command(call, &mut self.processes),
            alarm::NUMBER => {
                let result = self.alarm.command(call);
                if call.number >= 3 {
                    self.set_timer();
                }
                result
            }
            debug::NUMBER => debug::command(call, &self.processes),
            _ => Return::Failure(ErrorCode::NoDevice),
        };
        self.process().give(result)
    }

    /// Yield has no result of its own: what the registers hold afterwards is the upcall's.
    #[inline(never)]
    fn yield_(&mut self, kind: u32, first: u32, second: u32, _: u32) -> Next {
        let process = self.process();
        match kind {
            // No-wait: a byte at address `first` tells whether an upcall ran.
            0 => {
                let ran = process.run_upcall();
                if !ran {
                    process.frame.set_result([0; 4]);
                }
                write_byte(first, u8::from(ran), process.ram());
                Next::Same
            }
            1 => {
                let ran = process.run_upcall();
                process.wait_unless(ran, State::Yielded)
            }
            2 => {
                let id = UpcallId {
                    driver: first,
                    number: second,
                };
                let taken = process.take_upcall(id);
                process.wait_unless(taken, State::YieldedFor(id))
            }
            _ => process.fail(ErrorCode::NoSupport),
        }
    }

    #[inline(never)]
    fn subscribe(&mut self, driver: u32, number: u32, function: u32, userdata: u32) -> Next {
        let id = UpcallId { driver, number };
        let new = Subscription { function, userdata };
        let process = self.process();
        let result = match process.subscribe(id, new) {
            Ok(old) => Return::Pair(old.function, old.userdata),
            Err(error) => Return::FailurePair(error, function, userdata),
        };
        process.give(result)
    }

    #[inline(never)]
    fn read_write_allow(&mut self, driver: u32, number: u32, address: u32, length: u32) -> Next {
        let process = self.process();
        let allowed = [process.ram()];
        let slot = drivers::read_write_slot(driver, number);
        let slot = slot.map(|slot| &mut process.read_write[slot]);
        let result = swap(slot, address, length, &allowed);
        process.give(result)
    }

    #[inline(never)]
    fn read_only_allow(&mut self, driver: u32, number: u32, address: u32, length: u32) -> Next {
        let process = self.process();
        let allowed = [process.ram(), process.app.flash];
        let slot = drivers::read_only_slot(driver, number);
        let slot = slot.map(|slot| &mut process.read_only[slot]);
        let result = swap(slot, address, length, &allowed);
        process.give(result)
    }

    fn userspace_readable_allow(&mut self, _: u32, _: u32, address: u32, length: u32) -> Next {
        let result = Return::FailurePair(ErrorCode::NoSupport, address, length);
        self.process().give(result)
    }

    #[inline(never)]
    fn memop(&mut self, operation: u32, argument: u32, _: u32, _: u32) -> Next {
        let process = self.process();
        let app = &process.app;
        let value = match operation {
            0 => return self.move_break(Some(argument), Return::Success),
            1 => {
                let old = process.app_break();
                let new = old.checked_add_signed(argument as i32);
                return self.move_break(new, Return::U32(old));
            }
            2 => app.ram.start(),
            3 => app.ram.end(),
            4 => app.flash.start(),
            5 => app.flash.end(),
            // No grants are taken from the application's RAM.
            6 => app.ram.end(),
            // No writeable flash regions.
            7 => 0,
            // Where stack and heap start only matters to a debugger.
            10 | 11 => return process.give(Return::Success),
            _ => return process.fail(ErrorCode::NoSupport),
        };
        process.give(Return::U32(value))
    }

    /// Moves the break; None is a place outside of the address space.
    fn move_break(&mut self, new: Option<u32>, success: Return) -> Next {
        let process = self.process();
        let moved = new.ok_or(ErrorCode::NoMemory);
        match moved.and_then(|new| process.set_break(new)) {
            Ok(()) => {
                process.give(success);
                self.protect();
                Next::Same
            }
            Err(error) => process.fail(error),
        }
    }

    #[inline(never)]
    fn exit(&mut self, kind: u32, _: u32, _: u32, _: u32) -> Next {
        match kind {
            0 => self.stop_current(),
            1 => self.restart_current(),
            _ => return self.process().fail(ErrorCode::NoSupport),
        }
        Next::Other
    }
}

impl Process {
    #[inline(always)]
    fn give(&mut self, result: Return) -> Next {
        self.frame.set_result(result.registers());
        Next::Same
    }

    fn fail(&mut self, error: ErrorCode) -> Next {
        self.give(Return::Failure(error))
    }

    /// The process goes on if it has what it waits for; else it waits.
    fn wait_unless(&mut self, has: bool, waiting: State) -> Next {
        if has {
            return Next::Same;
        }
        self.state = waiting;
        Next::Other
    }
}

/// Puts a new buffer into a slot and hands out the old one.
fn swap(
    slot: Result<&mut UserBuffer, ErrorCode>,
    address: u32,
    length: u32,
    allowed: &[Region],
) -> Return {
    let new = UserBuffer::new(address, length, allowed).ok_or(ErrorCode::Invalid);
    match slot.and_then(|slot| Ok(core::mem::replace(slot, new?))) {
        Ok(old) => Return::Pair(old.address(), old.length()),
        Err(error) => Return::FailurePair(error, address, length),
    }
}
