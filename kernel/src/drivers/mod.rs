// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The system-call drivers, and the dispatch of commands to them. Each driver is one file, which begins with
//! its command table. [`call`] defines commands and answers; [`crate::slots`] defines where a process keeps
//! the subscriptions and buffers of each driver.

pub mod alarm;
pub mod call;
pub mod console;
#[cfg(any(test, feature = "crypto"))]
pub mod crypto;
#[cfg(any(test, feature = "cyclecount", target_arch = "arm"))]
pub mod cycle_count;
pub mod debug;
pub mod input;
pub mod ipc;
#[cfg(any(test, not(feature = "without-perf")))]
pub mod perf;
#[cfg(not(feature = "abi-v1"))]
pub mod registry;
#[cfg(not(feature = "abi-v1"))]
pub mod relay;

use crate::abi::ErrorCode;
use crate::kernel::Kernel;
use crate::process::Processes;
use crate::syscall::Next;
use alarm::Alarm;
use call::Call;
use console::Console;
#[cfg(not(feature = "abi-v1"))]
use {registry::Registry, relay::Relay};

/// The drivers that have state of their own.
pub struct Drivers {
    pub alarm: Alarm,
    pub console: Console,
    #[cfg(any(test, feature = "crypto"))]
    pub crypto: crypto::Crypto,
    #[cfg(any(feature = "cyclecount", target_arch = "arm"))]
    pub cycle_count: cycle_count::CycleCount,
    #[cfg(not(feature = "abi-v1"))]
    pub registry: Registry,
    #[cfg(not(feature = "abi-v1"))]
    pub relay: Relay,
}

impl Drivers {
    pub const fn new() -> Drivers {
        Drivers {
            alarm: Alarm::new(),
            console: Console::new(),
            #[cfg(any(test, feature = "crypto"))]
            crypto: crypto::Crypto::new(),
            #[cfg(any(feature = "cyclecount", target_arch = "arm"))]
            cycle_count: cycle_count::CycleCount::new(),
            #[cfg(not(feature = "abi-v1"))]
            registry: Registry::new(),
            #[cfg(not(feature = "abi-v1"))]
            relay: Relay::new(),
        }
    }

    /// Drops the state of a process that has ended.
    pub fn forget(&mut self, process: usize, processes: &mut Processes) {
        self.console.forget(process);
        self.alarm.forget(process);
        ipc::forget(process, processes);
        #[cfg(any(feature = "cyclecount", target_arch = "arm"))]
        self.cycle_count.forget(process);
        #[cfg(not(feature = "abi-v1"))]
        {
            self.registry.forget(process);
            self.relay.forget(process, processes);
        }
    }
}

impl Default for Drivers {
    fn default() -> Drivers {
        Drivers::new()
    }
}

impl Kernel {
    /// Sends a command to its driver. Each arm handles its driver's answer itself: there the compiler knows
    /// what follows, so it costs nothing to find out.
    #[inline]
    pub fn command(&mut self, driver: u32, call: Call) -> Next {
        let (drivers, processes) = (&mut self.drivers, &mut self.processes);
        match driver {
            alarm::NUMBER => {
                let answer = drivers.alarm.command(call);
                self.follow(answer)
            }
            console::NUMBER => {
                let result = drivers.console.command(call, processes);
                self.give(result)
            }
            debug::NUMBER => {
                let answer = debug::command(call, &mut drivers.console, processes);
                self.follow(answer)
            }
            ipc::NUMBER => {
                let answer = ipc::command(call, processes);
                self.follow(answer)
            }
            #[cfg(any(test, feature = "crypto"))]
            crypto::NUMBER => {
                let result = drivers.crypto.command(call, processes);
                self.give(result)
            }
            #[cfg(any(feature = "cyclecount", target_arch = "arm"))]
            cycle_count::NUMBER => {
                let result = drivers.cycle_count.command(call);
                self.give(result)
            }
            #[cfg(any(test, not(feature = "without-perf")))]
            perf::NUMBER => {
                let result = perf::command(call, processes);
                self.give(result)
            }
            #[cfg(not(feature = "abi-v1"))]
            registry::BY_STRING.. => self.command_to_others(driver, call.number, call.arguments),
            _ => self.fail(ErrorCode::NoDevice),
        }
    }

    /// The call's words are separate parameters, so that they stay in registers: commands to the drivers
    /// above then store none.
    #[cfg(not(feature = "abi-v1"))]
    #[inline(never)]
    fn command_to_others(&mut self, driver: u32, number: u32, arguments: [u32; 2]) -> Next {
        let call = self.command_call(number, arguments);
        let (drivers, processes) = (&mut self.drivers, &mut self.processes);
        match driver {
            registry::BY_STRING | registry::BY_PACKAGE => {
                let result = drivers.registry.command(driver, call, processes);
                self.give(result)
            }
            relay::NUMBER => match drivers.relay.command(call, processes) {
                Some(answer) => self.follow(answer),
                None => self.repeat(driver, call),
            },
            _ => self.fail(ErrorCode::NoDevice),
        }
    }
}
