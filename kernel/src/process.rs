// SPDX-License-Identifier: Apache-2.0 OR MIT

//! A process: an application's memory, its registers while it is not running, its subscriptions and
//! allowed buffers, and the buffers that others share with it.

use crate::abi::{ErrorCode, FIRST_PROCESS, UpcallId};
use crate::frame::{FIRST_STACK, Frame};
use crate::region::Region;
use crate::sharing::Inbox;
use crate::slots::{MAX_PROCESSES, READ_ONLY_SLOTS, READ_WRITE_SLOTS, SUBSCRIPTION_SLOTS};
use crate::slots::{OwnUpcall, is_from_process, subscription_slot};
use crate::umem::UserBuffer;
use crate::upcall::{Queue, Upcall};

pub type Processes = [Process; MAX_PROCESSES];

/// An application that was found in flash and has been given RAM.
#[derive(Clone, Copy)]
pub struct App {
    pub name: &'static str,
    /// The whole application in flash, header included.
    pub flash: Region,
    /// Where the application proper starts in flash.
    pub start: u32,
    /// The address of its first instruction.
    pub entry: u32,
    pub ram: Region,
}

impl App {
    const NONE: App = App {
        name: "",
        flash: Region::EMPTY,
        start: 0,
        entry: 0,
        ram: Region::EMPTY,
    };
}

/// The state of a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// It is running or can run.
    Ready,
    /// It waits for any upcall.
    Yielded,
    /// It waits for this upcall and wants its arguments, but no call of a function. Its queue does not
    /// have the upcall yet.
    YieldedFor(UpcallId),
    /// It waited for this upcall, which is now in its queue.
    Awaited(UpcallId),
    /// It waits until a line about it has been sent ([`crate::drivers::console`]).
    Printing,
    /// It has ended, or it has no application.
    Stopped,
}

/// The function that an upcall calls, and the word that is passed to it. A function of 0 means none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Subscription {
    pub function: u32,
    pub userdata: u32,
}

impl Subscription {
    const NULL: Subscription = Subscription {
        function: 0,
        userdata: 0,
    };
}

pub struct Process {
    pub frame: Frame,
    pub app: App,
    pub state: State,
    /// End of the RAM that the application may use now. It can ask for more, up to the end of its RAM
    /// region.
    app_break: u32,
    /// The number of its starts.
    starts: u32,
    upcalls: Queue,
    /// The buffers that other processes share with this one.
    pub inbox: Inbox,
    subscriptions: [Subscription; SUBSCRIPTION_SLOTS],
    pub read_only: [UserBuffer; READ_ONLY_SLOTS],
    pub read_write: [UserBuffer; READ_WRITE_SLOTS],
}

impl Process {
    pub const fn new() -> Process {
        Process {
            frame: Frame::new(),
            app: App::NONE,
            state: State::Stopped,
            app_break: 0,
            starts: 0,
            upcalls: Queue::new(),
            inbox: Inbox::new(),
            subscriptions: [Subscription::NULL; SUBSCRIPTION_SLOTS],
            read_only: [UserBuffer::EMPTY; READ_ONLY_SLOTS],
            read_write: [UserBuffer::EMPTY; READ_WRITE_SLOTS],
        }
    }

    /// Prepares the process to start at its application's first instruction, with no subscriptions and no
    /// buffers.
    ///
    /// The break starts at the bottom of RAM: the application itself moves it to what it needs.
    pub fn start(&mut self, app: App) {
        let mut inbox = core::mem::take(&mut self.inbox);
        inbox.close();
        let starts = self.starts.wrapping_add(1);
        *self = Process::new();
        self.starts = starts;
        self.inbox = inbox;
        self.app = app;
        self.app_break = app.ram.start() + FIRST_STACK;
        self.frame.enter(app.entry, self.app_break);
        let (ram, length) = (app.ram.start(), app.ram.length());
        self.frame
            .set_result([app.start, ram, length, self.app_break]);
        self.state = State::Ready;
    }

    /// Ends the process and drops its waiting upcalls.
    pub fn stop(&mut self) {
        self.state = State::Stopped;
        self.upcalls.clear();
    }

    /// Does this process have an application?
    pub fn exists(&self) -> bool {
        self.app.flash.length() > 0
    }

    /// The process's id, which is valid until the process ends. After a restart it has another id.
    pub fn id(&self, index: usize) -> u32 {
        let before = self.starts.wrapping_mul(MAX_PROCESSES as u32);
        before.wrapping_add(index as u32)
    }

    /// The RAM that the application may use now.
    pub fn ram(&self) -> Region {
        Region::new(self.app.ram.start(), self.app_break)
    }

    /// The RAM as the PMP protects it, in whole words: its end is rounded up, which stays inside the
    /// application's own region.
    pub fn protected_ram(&self) -> Region {
        Region::new(self.app.ram.start(), self.app_break.next_multiple_of(4))
    }

    pub fn app_break(&self) -> u32 {
        self.app_break
    }

    pub fn set_break(&mut self, new: u32) -> Result<(), ErrorCode> {
        let ram = self.app.ram;
        if new < ram.start() || new > ram.end() {
            return Err(ErrorCode::NoMemory);
        }
        self.app_break = new;
        Ok(())
    }

    /// Replaces a subscription. Drops the upcalls waiting for the old one, except those that other
    /// processes sent.
    pub fn subscribe(
        &mut self,
        id: UpcallId,
        new: Subscription,
    ) -> Result<Subscription, ErrorCode> {
        let executable = self.app.flash.start()..self.app.flash.end();
        if new.function != 0 && !executable.contains(&new.function) {
            return Err(ErrorCode::Invalid);
        }
        let slot = subscription_slot(id)?;
        if !is_from_process(id) {
            self.upcalls.retain(|other| other != id);
        }
        Ok(core::mem::replace(&mut self.subscriptions[slot], new))
    }

    /// Queues an upcall for an event. It waits until the process yields.
    pub fn schedule(&mut self, upcall: OwnUpcall, arguments: [u32; 3]) -> Result<(), ErrorCode> {
        let id = upcall.id();
        if self.ignores(id) {
            return Ok(());
        }
        self.upcalls.push_own(Upcall { id, arguments })?;
        self.note(id);
        Ok(())
    }

    /// Queues an upcall that another process sent.
    pub fn notify(&mut self, id: UpcallId, arguments: [u32; 3]) -> Result<(), ErrorCode> {
        if self.ignores(id) {
            return Ok(());
        }
        self.upcalls.push_foreign(Upcall { id, arguments })?;
        self.note(id);
        Ok(())
    }

    /// Queues the upcall for another process's request: its id and two more words.
    #[cfg(not(feature = "abi-v1"))]
    pub fn notify_of_request(&mut self, id: UpcallId, words: [u32; 3]) -> Result<(), ErrorCode> {
        if self.ignores(id) {
            return Ok(());
        }
        let arguments = words;
        self.upcalls.push_request(Upcall { id, arguments })?;
        self.note(id);
        Ok(())
    }

    /// Records that the queue now has this upcall, so that `is_runnable` needs no search.
    fn note(&mut self, id: UpcallId) {
        if self.state == State::YieldedFor(id) {
            self.state = State::Awaited(id);
        }
    }

    /// Is the process waiting for any upcall it has subscribed to, and not subscribed to this one? The
    /// upcall is then dropped at once, so a non-empty queue always makes the process runnable.
    fn ignores(&self, id: UpcallId) -> bool {
        self.state == State::Yielded && handler(&self.subscriptions, id).is_none()
    }

    /// Can the process run if it gets the core?
    pub fn is_runnable(&self) -> bool {
        match self.state {
            State::Ready | State::Awaited(_) => true,
            State::Yielded => !self.upcalls.is_empty(),
            State::YieldedFor(_) | State::Printing | State::Stopped => false,
        }
    }

    /// Ends the wait of a process that is runnable.
    pub fn wake(&mut self) {
        match self.state {
            State::Yielded => drop(self.run_first_upcall()),
            State::Awaited(id) => drop(self.take_upcall(id)),
            State::Ready | State::YieldedFor(_) | State::Printing | State::Stopped => {}
        }
        self.state = State::Ready;
    }

    /// Makes the process run its oldest waiting upcall that it has subscribed to, if there is one. Drops
    /// the upcalls before it.
    pub fn run_upcall(&mut self) -> bool {
        !self.upcalls.is_empty() && (self.run_first_upcall() || self.run_later_upcall())
    }

    #[inline(never)] // so that a call that finds no upcall saves no registers for this one
    fn run_first_upcall(&mut self) -> bool {
        let next = self
            .upcalls
            .pop_first(|id| handler(&self.subscriptions, id));
        self.run(next)
    }

    #[inline(never)]
    fn run_later_upcall(&mut self) -> bool {
        let next = self.upcalls.pop(|id| handler(&self.subscriptions, id));
        self.run(next)
    }

    fn run(&mut self, next: Option<(Upcall, Subscription)>) -> bool {
        let Some((upcall, handler)) = next else {
            return false;
        };
        let [first, second, third] = self.arguments(upcall);
        let arguments = [first, second, third, handler.userdata];
        self.frame.call(handler.function, arguments);
        true
    }

    /// Passes the arguments of the oldest upcall with this id to the process, without calling a function.
    #[inline(always)]
    pub fn take_upcall(&mut self, id: UpcallId) -> bool {
        let Some(upcall) = self.upcalls.pop_id(id) else {
            return false;
        };
        let [first, second, third] = self.arguments(upcall);
        self.frame.set_result([first, second, third, 0]);
        true
    }

    /// Returns an upcall's arguments. An upcall from another process holds that process's index, and
    /// comes with the buffer that it shares now.
    fn arguments(&mut self, upcall: Upcall) -> [u32; 3] {
        if !is_from_process(upcall.id) {
            return upcall.arguments;
        }
        let [sender, ..] = upcall.arguments;
        let buffer = self.inbox.open(sender as usize);
        [sender + FIRST_PROCESS, buffer.length(), buffer.start()]
    }
}

/// Returns the process's subscription to this upcall, if it has one.
fn handler(
    subscriptions: &[Subscription; SUBSCRIPTION_SLOTS],
    id: UpcallId,
) -> Option<Subscription> {
    let slot = subscription_slot(id).ok()?;
    Some(subscriptions[slot]).filter(|handler| handler.function != 0)
}

/// Returns the index of the living process with this id.
#[cfg(not(feature = "abi-v1"))]
pub fn index_of(id: u32, processes: &Processes) -> Option<usize> {
    let index = id as usize % MAX_PROCESSES;
    let process = &processes[index];
    let lives = process.exists() && process.state != State::Stopped;
    (lives && process.id(index) == id).then_some(index)
}

impl Default for Process {
    fn default() -> Process {
        Process::new()
    }
}
