// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The kernel proper: which process runs, what an interrupt changes, and what becomes of a process
//! that ends.
//!
//! There is one core, and interrupts are off while the kernel runs, so the kernel is never entered
//! twice. A word in the image says who goes first (see [`Machine::slice_us`]). By turns: a process runs
//! until it yields, ends, or has had its time slice; slices are counted only while another process
//! could run, so an application that is alone is never disturbed. By fixed priority, which has no
//! slices: a process runs until it yields, ends, or one in an earlier place can run.

use crate::arch::{Hardware, Machine, Source};
use crate::drivers::Drivers;
use crate::frame::Frame;
use crate::loader::Apps;
use crate::process::{Process, Processes};
use crate::report::{self, Line};
use crate::say;
use crate::slots::MAX_PROCESSES;
use crate::syscall::Next;

/// The causes of faults by a load and by a store.
const READ: u32 = 5;
const WRITTEN: u32 = 7;

/// The shortest time slice in microseconds: in a shorter one a process would hardly get anywhere.
const SHORTEST_SLICE: u32 = 100;

pub struct Kernel {
    pub processes: Processes,
    /// The process that runs, or ran last.
    pub current: usize,
    pub drivers: Drivers,
    /// How often each process may still be started again after a fault.
    restarts: [u32; MAX_PROCESSES],
    /// How many ticks a process runs while another one waits. None: fixed priority.
    slice: Option<u64>,
    /// When the current process has to make room. None: nobody waits.
    slice_end: Option<u64>,
    /// Whose memory the PMP opens to user mode.
    protected: Option<usize>,
    /// Some of that is memory that others share with it.
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

    /// The current process's index. It is always one of a process; the remainder says so to the
    /// compiler too, which then checks no bounds on every system call.
    #[inline(always)]
    pub fn index(&self) -> usize {
        self.current % MAX_PROCESSES
    }

    /// The process that runs, or ran last.
    #[inline(always)]
    pub fn process(&mut self) -> &mut Process {
        &mut self.processes[self.index()]
    }

    /// That process's registers.
    pub fn frame(&mut self) -> &mut Frame {
        &mut self.process().frame
    }

    /// Chooses the next process and makes it ready to run: the one after the current comes first, or
    /// by fixed priority the one in the first place. With nothing to run, the core sleeps until an
    /// interrupt changes that.
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

    /// Opens the current process's memory, what others share with it, and no more to user mode.
    pub fn protect(&mut self) {
        let process = &mut self.processes[self.current % MAX_PROCESSES];
        Hardware::protect(process.app.flash, process.protected_ram());
        process.inbox.take_moved();
        let open = !process.inbox.is_closed();
        // With most processes there is nothing to open here, nor to close.
        if open || self.windows_open {
            Hardware::open_windows(process.inbox.windows());
            self.windows_open = open;
        }
        self.protected = Some(self.current);
    }

    /// Opens to user mode what another process shares, if the current one has just got at it.
    #[inline]
    pub fn protect_if_moved(&mut self) {
        if self.process().inbox.take_moved() {
            self.protect();
        }
    }

    /// Something may have made another process ready. Does the current one go on?
    pub fn make_room(&mut self) -> Next {
        if self.is_outranked() {
            return Next::Other;
        }
        self.watch_slice();
        Next::Same
    }

    /// By fixed priority: could a process in an earlier place run?
    fn is_outranked(&self) -> bool {
        let mut earlier = self.processes.iter().take(self.current);
        self.slice.is_none() && earlier.any(Process::is_runnable)
    }

    /// An interrupt came while the current process ran.
    pub fn interrupt(&mut self) {
        if self.serve_interrupts() || self.make_room() == Next::Other {
            self.schedule();
        }
    }

    /// Serves one of what is pending: if there is another, it interrupts as soon as a process runs. Returns
    /// whether the current process's time slice is over.
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
                Source::Other(number) => say!("interrupt {number} was not asked for"),
            }
            Hardware::complete_interrupt(source);
        }
        false
    }

    /// Starts a time slice for the current process if it has none and another one waits.
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

    /// Sets the timer to what comes first: an alarm, or the end of the time slice.
    pub fn set_timer(&mut self) {
        let alarm = self.drivers.alarm.next();
        Hardware::set_timer(alarm.into_iter().chain(self.slice_end).min());
    }

    /// The current process did what it may not: says so and stops it, or starts it again if the image
    /// says so (see [`Machine::fault_restarts`]), in one line and as soon as that is out. The others run
    /// on.
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

    /// The current process ends itself; it says with a code how its work went, and zero is well.
    pub fn terminate(&mut self, code: u32) {
        self.stop_current();
        if code != 0 {
            self.say(self.index(), Line::Ended(code));
        }
    }

    /// Says a line about this process in its turn.
    fn say(&mut self, process: usize, line: Line) {
        let console = &mut self.drivers.console;
        console.say(process, line, &mut self.processes);
    }

    /// Ends the current process, and what the drivers had under way for it.
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
