// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The system calls, for both versions of the interface. [`crate::version`] calls these functions for the
//! current process; its `give` puts a result into registers.

use crate::abi::{ErrorCode, Return, UpcallId};
use crate::drivers::call::{Answer, Call, Then};
use crate::kernel::Kernel;
use crate::process::State;
use crate::slots;
use crate::umem::{UserBuffer, write_byte};

/// The process that runs after a system call.
#[derive(Debug, PartialEq, Eq)]
pub enum Next {
    /// The process that called.
    Same,
    /// Another process: the calling one waits, has ended, or has used its time.
    Other,
}

impl Kernel {
    /// Returns a command of the current process.
    #[inline(always)]
    pub fn command_call(&self, number: u32, arguments: [u32; 2]) -> Call {
        Call {
            process: self.index(),
            number,
            arguments,
        }
    }

    /// Gives the caller a command's result, then does what the driver asks for.
    #[inline(always)]
    pub fn follow(&mut self, (result, then): Answer) -> Next {
        self.give(result);
        match then {
            Then::Nothing => {}
            Then::SetTimer => self.set_timer(),
            Then::MakeRoom => return self.make_room(),
            Then::Wait if self.process().state != State::Ready => return Next::Other,
            Then::Wait => {}
        }
        Next::Same
    }

    /// Runs an upcall if one waits, and writes to the byte at address `flag` whether one did.
    #[inline]
    pub fn yield_no_wait(&mut self, flag: u32) -> Next {
        let process = self.process();
        let ran = process.run_upcall();
        write_byte(flag, u8::from(ran), process.ram());
        if !ran {
            process.frame.set_result([0; 4]);
            return Next::Same;
        }
        self.wait_unless(ran, State::Ready)
    }

    /// Runs an upcall, as soon as there is one.
    #[inline]
    pub fn yield_wait(&mut self) -> Next {
        let ran = self.process().run_upcall();
        self.wait_unless(ran, State::Yielded)
    }

    /// Passes on the arguments of one specific upcall, as soon as it arrives.
    #[inline]
    pub fn yield_wait_for(&mut self, id: UpcallId) -> Next {
        let taken = self.process().take_upcall(id);
        self.wait_unless(taken, State::YieldedFor(id))
    }

    /// Lets the process continue if it has what it waits for, or makes it wait.
    fn wait_unless(&mut self, has: bool, waiting: State) -> Next {
        if has {
            self.protect_if_moved();
            return Next::Same;
        }
        self.process().state = waiting;
        Next::Other
    }

    /// Gives a driver a buffer to read and write, and returns the driver's previous one. `None` is a
    /// buffer outside the caller's memory.
    #[inline]
    pub fn read_write_allow(
        &mut self,
        driver: u32,
        number: u32,
        new: Option<UserBuffer>,
    ) -> Result<UserBuffer, ErrorCode> {
        let (slot, new) = both(slots::read_write_slot(driver, number), new)?;
        let place = &mut self.process().read_write[slot];
        let old = core::mem::replace(place, new);
        if let Some(with) = slots::shared_with(slot) {
            let owner = self.index();
            let inbox = &mut self.processes[with].inbox;
            inbox.offer(owner, new.region());
        }
        Ok(old)
    }

    /// Gives a driver a buffer to read, and returns the driver's previous one.
    #[inline]
    pub fn read_only_allow(
        &mut self,
        driver: u32,
        number: u32,
        new: Option<UserBuffer>,
    ) -> Result<UserBuffer, ErrorCode> {
        let (slot, new) = both(slots::read_only_slot(driver, number), new)?;
        let place = &mut self.process().read_only[slot];
        Ok(core::mem::replace(place, new))
    }

    #[inline]
    pub fn memop(&mut self, operation: u32, argument: u32) -> Next {
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
            // There are no grants in the application's RAM.
            6 => app.ram.end(),
            // There are no writeable flash regions.
            7 => 0,
            8 | 9 => return self.fail(ErrorCode::Fail),
            // Only a debugger needs to know where stack and heap start.
            10 | 11 => return self.give(Return::Success),
            _ => return self.fail(ErrorCode::NoSupport),
        };
        self.give(Return::U32(value))
    }

    /// Moves the break; `None` is an address beyond the address space.
    fn move_break(&mut self, new: Option<u32>, success: Return) -> Next {
        let moved = new.ok_or(ErrorCode::NoMemory);
        match moved.and_then(|new| self.process().set_break(new)) {
            Ok(()) => {
                self.give(success);
                self.protect();
                Next::Same
            }
            Err(error) => self.fail(error),
        }
    }

    pub fn fail(&mut self, error: ErrorCode) -> Next {
        self.give(Return::Failure(error))
    }
}

/// Returns the slot and the buffer, or the first error. If there are several, Tock reports a missing
/// driver before a buffer outside the application's memory.
fn both(
    slot: Result<usize, ErrorCode>,
    buffer: Option<UserBuffer>,
) -> Result<(usize, UserBuffer), ErrorCode> {
    match (slot, buffer) {
        (Err(ErrorCode::NoDevice), _) => Err(ErrorCode::NoDevice),
        (_, None) => Err(ErrorCode::Invalid),
        (slot, Some(buffer)) => Ok((slot?, buffer)),
    }
}
