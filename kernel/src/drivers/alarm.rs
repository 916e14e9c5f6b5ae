// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Alarm, driver 0x0: the time, and one alarm per process.
//!
//! | command | arguments | reply | meaning |
//! |---|---|---|---|
//! | 0 | - | success | the driver exists |
//! | 1 | - | u32 | ticks per second |
//! | 2 | - | u32 | the time in ticks, low half |
//! | 3 | - | success | stops the alarm; ALREADY if none is set |
//! | 5 | ticks | u32 | sets the alarm that many ticks from now; returns when it is due |
//! | 6 | reference, ticks | u32 | sets the alarm that many ticks from the reference, which is in the past |
//!
//! Upcall 0 reports that the alarm is due: the time now, and the time at which it was due.

use super::call::{Answer, Call, Then};
use crate::abi::{ErrorCode, Return};
use crate::arch::{Hardware, Machine};
use crate::process::Processes;
use crate::slots::{MAX_PROCESSES, OwnUpcall};

pub use crate::slots::ALARM as NUMBER;

const UPCALL: OwnUpcall = OwnUpcall::new(NUMBER, 0);

pub struct Alarm {
    /// When each process's alarm is due.
    due: [Option<u64>; MAX_PROCESSES],
}

impl Alarm {
    pub const fn new() -> Alarm {
        Alarm {
            due: [None; MAX_PROCESSES],
        }
    }

    pub fn command(&mut self, call: Call) -> Answer {
        let due = &mut self.due[call.process];
        let [first, second] = call.arguments;
        let result = match call.number {
            0 => return (Return::Success, Then::Nothing),
            1 => return (Return::U32(Hardware::TICKS_PER_SECOND), Then::Nothing),
            2 => return (Return::U32(Hardware::now() as u32), Then::Nothing),
            3 => match due.take() {
                Some(_) => Return::Success,
                None => Return::Failure(ErrorCode::Already),
            },
            5 => {
                let now = Hardware::now();
                Return::U32(set(due, now, now as u32, first))
            }
            6 => Return::U32(set(due, Hardware::now(), first, second)),
            _ => Return::Failure(ErrorCode::NoSupport),
        };
        (result, Then::SetTimer)
    }

    /// When the next alarm of any process is due.
    pub fn next(&self) -> Option<u64> {
        self.due.iter().flatten().min().copied()
    }

    /// Queues an upcall for each alarm that is due.
    pub fn expire(&mut self, now: u64, processes: &mut Processes) {
        for (due, process) in self.due.iter_mut().zip(processes) {
            if let Some(at) = due.take_if(|at| *at <= now) {
                // It may be lost if the upcall of the last alarm still waits.
                let _ = process.schedule(UPCALL, [now as u32, at as u32, 0]);
            }
        }
    }

    /// Drops the alarm of a process that has ended.
    pub fn forget(&mut self, process: usize) {
        self.due[process] = None;
    }
}

impl Default for Alarm {
    fn default() -> Alarm {
        Alarm::new()
    }
}

/// Sets an alarm `ticks` after `reference`, which is the low half of a time in the past; the alarm may be
/// in the past as well. Returns the low half of the time at which it is due.
fn set(due: &mut Option<u64>, now: u64, reference: u32, ticks: u32) -> u32 {
    let elapsed = (now as u32).wrapping_sub(reference);
    let ahead = i64::from(ticks) - i64::from(elapsed);
    *due = Some(now.saturating_add_signed(ahead));
    reference.wrapping_add(ticks)
}
