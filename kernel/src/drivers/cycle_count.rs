// SPDX-License-Identifier: Apache-2.0 OR MIT

//! CycleCount, as in Tock since 2.2: one cycle counter. The first process that starts, stops or resets it
//! controls it; all processes may read it. Like our patch for Tock it never stops mcycle itself.
//!
//! | command | |
//! |---|---|
//! | 0 | does the driver exist |
//! | 1 | start |
//! | 2 | read: 64 bits |
//! | 3 | reset to 0, and stop |
//! | 4 | stop |

use super::call::Call;
use crate::abi::{ErrorCode, Return};
use crate::arch::Hardware;
use tockmark_perf::Counters;
use tockmark_perf::commands::read_wide;

pub const NUMBER: u32 = 0x9_0008;

pub struct CycleCount {
    owner: Option<usize>,
    running: bool,
    from: u64, // while running: the value of mcycle at count 0; while stopped: the count
}

impl CycleCount {
    pub const fn new() -> CycleCount {
        CycleCount {
            owner: None,
            running: false,
            from: 0,
        }
    }

    pub fn command(&mut self, call: Call) -> Return {
        match call.number {
            0 => Return::Success,
            2 => Return::U64(self.count()),
            1 | 3 | 4 if *self.owner.get_or_insert(call.process) != call.process => {
                Return::Failure(ErrorCode::Reserve)
            }
            number @ (1 | 3 | 4) => {
                self.run(number == 1);
                if number == 3 {
                    self.from = 0;
                }
                Return::Success
            }
            _ => Return::Failure(ErrorCode::NoSupport),
        }
    }

    pub fn forget(&mut self, process: usize) {
        self.owner = self.owner.filter(|owner| *owner != process);
    }

    fn count(&self) -> u64 {
        if self.running {
            now().wrapping_sub(self.from)
        } else {
            self.from
        }
    }

    fn run(&mut self, running: bool) {
        if running != self.running {
            self.running = running;
            // The conversion between the two meanings of `from` is the same both ways.
            self.from = now().wrapping_sub(self.from);
        }
    }
}

impl Default for CycleCount {
    fn default() -> CycleCount {
        CycleCount::new()
    }
}

fn now() -> u64 {
    read_wide(|| Hardware.cycles_high(), || Hardware.cycles())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ask(driver: &mut CycleCount, process: usize, number: u32) -> Return {
        let arguments = [0, 0];
        driver.command(Call {
            process,
            number,
            arguments,
        })
    }

    fn read(driver: &mut CycleCount) -> u64 {
        match ask(driver, 3, 2) {
            Return::U64(count) => count,
            other => panic!("{other:?}"),
        }
    }

    /// The fake machine counts one cycle per read.
    #[test]
    fn it_counts_from_its_start_to_its_stop_and_goes_on() {
        let mut driver = CycleCount::new();
        assert_eq!(read(&mut driver), 0);
        assert_eq!(ask(&mut driver, 0, 1), Return::Success);
        assert_eq!((read(&mut driver), read(&mut driver)), (1, 2));
        assert_eq!(ask(&mut driver, 0, 1), Return::Success); // it is already running
        assert_eq!(read(&mut driver), 3);
        assert_eq!(ask(&mut driver, 0, 4), Return::Success);
        now(); // the core's own counter continues
        assert_eq!((read(&mut driver), read(&mut driver)), (4, 4));
        assert_eq!(ask(&mut driver, 0, 1), Return::Success);
        assert_eq!(read(&mut driver), 5);
        assert_eq!(ask(&mut driver, 0, 3), Return::Success);
        assert_eq!(read(&mut driver), 0);
    }

    #[test]
    fn the_first_process_controls_it_until_it_ends() {
        let mut driver = CycleCount::new();
        assert_eq!(ask(&mut driver, 1, 1), Return::Success);
        for number in [1, 3, 4] {
            let refused = Return::Failure(ErrorCode::Reserve);
            assert_eq!(ask(&mut driver, 0, number), refused);
        }
        driver.forget(1);
        assert_eq!(ask(&mut driver, 0, 4), Return::Success);
    }

    #[test]
    fn it_has_no_other_commands() {
        let none = Return::Failure(ErrorCode::NoSupport);
        let mut driver = CycleCount::new();
        assert_eq!(ask(&mut driver, 0, 0), Return::Success);
        assert_eq!(ask(&mut driver, 0, 5), none);
    }
}
