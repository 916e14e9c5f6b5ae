// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The kernel proper: it chooses the process that runs, serves interrupts, and ends processes.
//!
//! There is one core, and interrupts are off while the kernel runs, so the kernel is never entered
//! twice. A word in the image selects the scheduler (see [`Machine::slice_us`]). Round robin: a process
//! runs until it yields, ends, or has used its time slice. Slices are counted only while another process
//! could run, so an application that is alone is never interrupted. Fixed priority, without slices: a
//! process runs until it yields or ends, or until a process with a lower index can run.

use crate::arch::{Hardware, Machine, Source};
use crate::drivers::Drivers;
use crate::frame::Frame;
use crate::loader::Apps;
use crate::process::{Process, Processes};
use crate::report::{self, Line};
use crate::say;
use crate::slots::MAX_PROCESSES;
use crate::syscall::Next;

/// The causes of faults in a load and in a store.
const READ: u32 = 5;
const WRITTEN: u32 = 7;

/// The shortest time slice in microseconds. In a shorter one a process would hardly make progress.
const SHORTEST_SLICE: u32 = 100;

pub struct Kernel {
    pub processes: Processes,
    /// The process that runs, or ran last.
    pub current: usize,
    pub drivers: Drivers,
    /// The number of restarts that each process has left after a fault.
    restarts: [u32; MAX_PROCESSES],
    /// The length of a time slice in ticks. None: fixed priority.
    slice: Option<u64>,
    /// When the current process's time slice ends. None: no other process is ready.
    slice_end: Option<u64>,
    /// The process whose memory the PMP opens to user mode.
    protected: Option<usize>,
    /// Does the PMP also open memory that others share with that process?
    windows_open: bool,
}

impl Kernel {
    pub const fn new() -> Kernel {
        Kernel {
            processes: [const { Process::new() }; MAX_PROCESSES],
            current: MAX_PROCESSES - 1,
            drivers: Drivers::new(),
            restarts: [0; MAX_PROCESSES],
            slice: None,
            slice_end: None,
            protected: None,
            windows_open: false,
        }
    }

    /// Makes a process of each application.
    pub fn start(&mut self, apps: &Apps) {
        self.restarts = [Hardware::fault_restarts(); MAX_PROCESSES];
        let slice = Some(Hardware::slice_us()).filter(|slice| *slice > 0);
        self.slice = slice.map(|slice| Hardware::ticks(slice.max(SHORTEST_SLICE)));
        for (process, app) in self.processes.iter_mut().zip(apps) {
            if let Some(app) = app {
                process.start(*app);
            }
        }
        let count = apps.iter().flatten().count();
        #[cfg(not(target_arch = "arm"))]
        say!("baseline {}, apps: {count}", env!("CARGO_PKG_VERSION"));
        #[cfg(target_arch = "arm")]
        say!("stand-in {}, apps: {count}", env!("CARGO_PKG_VERSION"));
    }

    /// The current process's index. It is always less than MAX_PROCESSES. The remainder lets the compiler
    /// prove that, so it adds no bounds checks to every system call.
    #[inline(always)]
    pub fn index(&self) -> usize {
        self.current % MAX_PROCESSES
    }

    /// The process that runs, or ran last.
    #[inline(always)]
    pub fn process(&mut self) -> &mut Process {
        &mut self.processes[self.index()]
    }

    /// The current process's registers.
    pub fn frame(&mut self) -> &mut Frame {
        &mut self.process().frame
    }

    /// Chooses the next process and prepares it to run. Round robin starts its search after the current
    /// process, fixed priority at index 0. If no process can run, the core sleeps until an interrupt makes
    /// one ready.
    pub fn schedule(&mut self) {
        loop {
            let first = match self.slice {
                Some(_) => self.current + 1,
                None => 0,
            };
            let mut turns = (first..first + MAX_PROCESSES).map(|turn| turn % MAX_PROCESSES);
            if let Some(next) = turns.find(|index| self.processes[*index].is_runnable()) {
                self.current = next;
                self.process().wake();
                break;
            }
            Hardware::wait_for_interrupt();
            self.serve_interrupts();
        }
        if self.protected != Some(self.current) {
            self.protect();
        } else {
            self.protect_if_moved();
        }
        let had_slice = self.slice_end.take().is_some();
        self.watch_slice();
        if had_slice && self.slice_end.is_none() {
            self.set_timer();
        }
    }

    /// Opens only the current process's memory, and the buffers shared with it, to user mode.
    pub fn protect(&mut self) {
        let process = &mut self.processes[self.current % MAX_PROCESSES];
        Hardware::protect(process.app.flash, process.protected_ram());
        process.inbox.take_moved();
        let open = !process.inbox.is_closed();
        // Most processes have no shared buffers, so there is nothing to open or to close.
        if open || self.windows_open {
            Hardware::open_windows(process.inbox.windows());
            self.windows_open = open;
        }
        self.protected = Some(self.current);
    }

    /// Opens what another process shares to user mode, if the current one has just got access to it.
    #[inline]
    pub fn protect_if_moved(&mut self) {
        if self.process().inbox.take_moved() {
            self.protect();
        }
    }

    /// Decides whether the current process continues, after another one may have become ready.
    pub fn make_room(&mut self) -> Next {
        if self.is_outranked() {
            return Next::Other;
        }
        self.watch_slice();
        Next::Same
    }

    /// Fixed priority: can a process with a lower index run?
    fn is_outranked(&self) -> bool {
        let mut earlier = self.processes.iter().take(self.current);
        self.slice.is_none() && earlier.any(Process::is_runnable)
    }

    /// Serves the interrupt that the current process was interrupted by.
    pub fn interrupt(&mut self) {
        if self.serve_interrupts() || self.make_room() == Next::Other {
            self.schedule();
        }
    }

    /// Serves one pending interrupt. If another one is pending, it interrupts as soon as a process runs.
    /// Returns whether the current process's time slice is over.
    fn serve_interrupts(&mut self) -> bool {
        let pending = Hardware::pending_interrupts();
        if pending.timer {
            let now = Hardware::now();
            self.drivers.alarm.expire(now, &mut self.processes);
            let slice_over = self.slice_end.take_if(|end| *end <= now).is_some();
            self.set_timer();
            return slice_over;
        }
        if pending.external
            && let Some(source) = Hardware::claim_interrupt()
        {
            match source {
                Source::UartSent => {
                    Hardware::acknowledge_sent();
                    self.drivers.console.sent(&mut self.processes);
                }
                Source::UartReceived => self.drivers.console.input.received(&mut self.processes),
                Source::Other(number) => say!("interrupt {number} was not asked for"),
            }
            Hardware::complete_interrupt(source);
        }
        false
    }

    /// Starts a time slice for the current process if it has none and another one is ready.
    fn watch_slice(&mut self) {
        let Some(slice) = self.slice.filter(|_| self.slice_end.is_none()) else {
            return;
        };
        let current = self.current;
        let others = self.processes.iter().enumerate();
        let mut others = others.filter(|(index, _)| *index != current);
        if others.any(|(_, process)| process.is_runnable()) {
            self.slice_end = Some(Hardware::now() + slice);
            self.set_timer();
        }
    }

    /// Sets the timer to the next event: an alarm, or the end of the time slice.
    pub fn set_timer(&mut self) {
        let alarm = self.drivers.alarm.next();
        Hardware::set_timer(alarm.into_iter().chain(self.slice_end).min());
    }

    /// Handles a fault of the current process: prints it and stops the process, or restarts the process if
    /// the image allows it (see [`Machine::fault_restarts`]). A restart prints one line, and the process
    /// waits until the line is out. The other processes keep running.
    pub fn fault(&mut self, cause: u32, value: u32) {
        let index = self.index();
        let process = &mut self.processes[index];
        if matches!(cause, READ | WRITTEN) && process.inbox.turn_to(value) {
            self.protect();
            return;
        }
        let pc = process.frame.pc();
        let line = Line::Fault { cause, value, pc };
        let restarts = &mut self.restarts[index];
        match restarts.checked_sub(1) {
            Some(left) => {
                *restarts = left;
                self.restart_current();
                self.say(index, line);
            }
            None => {
                report::stopped(&process.app, &process.frame, line, cause);
                self.stop_current();
            }
        }
        self.schedule();
    }

    /// Ends the current process at its own request. The code is its result; zero means success.
    pub fn terminate(&mut self, code: u32) {
        self.stop_current();
        if code != 0 {
            self.say(self.index(), Line::Ended(code));
        }
    }

    /// Queues a line about this process, to be printed in its turn.
    fn say(&mut self, process: usize, line: Line) {
        let console = &mut self.drivers.console;
        console.say(process, line, &mut self.processes);
    }

    /// Ends the current process and everything that drivers were doing for it.
    pub fn stop_current(&mut self) {
        self.process().stop();
        self.drivers.forget(self.index(), &mut self.processes);
        self.set_timer();
    }

    /// Ends the current process and starts its application again from its first instruction.
    pub fn restart_current(&mut self) {
        self.stop_current();
        let process = self.process();
        process.start(process.app);
        // Its RAM is closed again until it moves its break.
        self.protect();
    }
}

impl Default for Kernel {
    fn default() -> Kernel {
        Kernel::new()
    }
}
