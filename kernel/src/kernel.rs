// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The kernel proper: which process runs, what an interrupt changes, and what becomes of a process
//! that ends.
//!
//! There is one core, and interrupts are off while the kernel runs, so the kernel is never entered
//! twice. A process runs until it yields, ends, or has had its time slice; slices are counted only
//! while another process could run, so an application that is alone is never disturbed.

use crate::arch::{self, Source, timer, uart};
use crate::drivers::alarm::Alarm;
use crate::drivers::console::Console;
use crate::loader::Apps;
use crate::process::{Frame, MAX_PROCESSES, Process, Processes};
use crate::report;
use crate::say;

/// How long a process runs while another one waits: 10 ms.
const SLICE: u64 = timer::TICKS_PER_SECOND as u64 / 100;

pub struct Kernel {
    pub processes: Processes,
    /// The process that runs, or ran last.
    pub current: usize,
    pub alarm: Alarm,
    pub console: Console,
    /// When the current process has to make room. None: nobody waits.
    slice_end: Option<u64>,
    /// Whose memory the PMP opens to user mode.
    protected: Option<usize>,
}

impl Kernel {
    pub const fn new() -> Kernel {
        Kernel {
            processes: [const { Process::new() }; MAX_PROCESSES],
            current: MAX_PROCESSES - 1,
            alarm: Alarm::new(),
            console: Console::new(),
            slice_end: None,
            protected: None,
        }
    }

    /// Makes a process of each application.
    pub fn start(&mut self, apps: &Apps) {
        for (process, app) in self.processes.iter_mut().zip(apps) {
            if let Some(app) = app {
                process.start(*app);
            }
        }
        let count = apps.iter().flatten().count();
        say!("baseline {}, apps: {count}", env!("CARGO_PKG_VERSION"));
    }

    /// The process that runs, or ran last.
    pub fn process(&mut self) -> &mut Process {
        &mut self.processes[self.current]
    }

    /// That process's registers.
    pub fn frame(&mut self) -> &mut Frame {
        &mut self.process().frame
    }

    /// Chooses the next process and makes it ready to run; the one after the current comes first.
    /// With nothing to run, the core sleeps until an interrupt changes that.
    pub fn schedule(&mut self) {
        loop {
            let turns = (1..=MAX_PROCESSES).map(|step| (self.current + step) % MAX_PROCESSES);
            let next = turns
                .into_iter()
                .find(|index| self.processes[*index].wake());
            if let Some(next) = next {
                self.current = next;
                break;
            }
            arch::wait_for_interrupt();
            self.serve_interrupts();
        }
        if self.protected != Some(self.current) {
            self.protect();
        }
        let had_slice = self.slice_end.take().is_some();
        self.watch_slice();
        if had_slice && self.slice_end.is_none() {
            self.set_timer();
        }
    }

    /// Opens the current process's memory, and no other, to user mode.
    pub fn protect(&mut self) {
        let process = &self.processes[self.current];
        arch::protect(process.app.flash, process.protected_ram());
        self.protected = Some(self.current);
    }

    /// An interrupt came while the current process ran.
    pub fn interrupt(&mut self) {
        if self.serve_interrupts() {
            self.schedule();
        } else {
            self.watch_slice();
        }
    }

    /// Serves what is pending. Returns whether the current process's time slice is over.
    fn serve_interrupts(&mut self) -> bool {
        let pending = arch::pending_interrupts();
        let mut slice_over = false;
        if pending.timer {
            let now = timer::now();
            self.alarm.expire(now, &mut self.processes);
            slice_over = self.slice_end.take_if(|end| *end <= now).is_some();
            self.set_timer();
        }
        if pending.external {
            while let Some(source) = arch::claim_interrupt() {
                match source {
                    Source::UartSent => {
                        uart::acknowledge_sent();
                        self.console.sent(&mut self.processes);
                    }
                    Source::Other(number) => say!("interrupt {number} was not asked for"),
                }
                arch::complete_interrupt(source);
            }
        }
        slice_over
    }

    /// Starts a time slice for the current process if it has none and another one waits.
    fn watch_slice(&mut self) {
        if self.slice_end.is_some() {
            return;
        }
        let current = self.current;
        let others = self.processes.iter().enumerate();
        let mut others = others.filter(|(index, _)| *index != current);
        if others.any(|(_, process)| process.is_runnable()) {
            self.slice_end = Some(timer::now() + SLICE);
            self.set_timer();
        }
    }

    /// Sets the timer to what comes first: an alarm, or the end of the time slice.
    pub fn set_timer(&mut self) {
        timer::set(self.alarm.next().into_iter().chain(self.slice_end).min());
    }

    /// The current process did what it may not: says so and stops it. The others run on.
    pub fn fault(&mut self, cause: u32, value: u32) {
        let process = &self.processes[self.current];
        report::fault(&process.app, &process.frame, cause, value);
        self.stop_current();
        self.schedule();
    }

    /// Ends the current process, and what the drivers had under way for it.
    pub fn stop_current(&mut self) {
        self.process().stop();
        self.console.forget(self.current);
        self.alarm.forget(self.current);
        self.slice_end = None;
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
