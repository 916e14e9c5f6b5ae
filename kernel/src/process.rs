// SPDX-License-Identifier: Apache-2.0 OR MIT

//! A process: an application's memory, its registers while it does not run, and what it has asked
//! for: upcalls subscribed to, buffers allowed; and what others share with it.

use crate::abi::{ErrorCode, FIRST_PROCESS, UpcallId};
use crate::frame::{FIRST_STACK, Frame};
use crate::region::Region;
use crate::sharing::Inbox;
use crate::slots::{MAX_PROCESSES, READ_ONLY_SLOTS, READ_WRITE_SLOTS, SUBSCRIPTION_SLOTS};
use crate::slots::{is_from_process, subscription_slot};
use crate::umem::UserBuffer;
use crate::upcall::{Queue, Upcall};

pub type Processes = [Process; MAX_PROCESSES];

/// An application that was found in flash and has a place in RAM.
#[derive(Clone, Copy)]
pub struct App {
    pub name: &'static str,
    /// All of it in flash, header included.
    pub flash: Region,
    /// Where the application proper starts in flash.
    pub start: u32,
    /// Its first instruction.
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

/// What a process is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// It runs, or could.
    Ready,
    /// It waits for any upcall.
    Yielded,
    /// It waits for this upcall, whose arguments it wants without a function being called; its queue has
    /// none such.
    YieldedFor(UpcallId),
    /// It waited for this upcall, and now its queue has one.
    Awaited(UpcallId),
    /// It waits until a line about it is out ([`crate::drivers::console`]).
    Printing,
    /// It has ended, or there is none.
    Stopped,
}

/// The function that an upcall calls, and the word that it is called with. Zero: none.
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
    /// End of the RAM that the application may use now; the rest, up to the end of its RAM region,
    /// it can ask for.
    app_break: u32,
    /// How often it has begun.
    starts: u32,
    upcalls: Queue,
    /// What other processes share with this one.
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

    /// Puts the process at its application's first instruction, with nothing asked for yet.
    ///
    /// The break starts at the bottom of RAM: how much of it the application uses from the start is
    /// for the application to say.
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

    /// The process runs no more, and nothing waits for it.
    pub fn stop(&mut self) {
        self.state = State::Stopped;
        self.upcalls.clear();
    }

    /// Is there an application in this place?
    pub fn exists(&self) -> bool {
        self.app.flash.length() > 0
    }

    /// What the process in this place is called until it ends; if it starts again it is another one.
    pub fn id(&self, place: usize) -> u32 {
        let before = self.starts.wrapping_mul(MAX_PROCESSES as u32);
        before.wrapping_add(place as u32)
    }

    /// The RAM that the application may use now.
    pub fn ram(&self) -> Region {
        Region::new(self.app.ram.start(), self.app_break)
    }

    /// That RAM as the PMP is told, in whole words: its end is rounded up, which stays within the
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

    /// Replaces a subscription, and cancels what waits for the old one, but for what other processes
    /// have sent.
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

    /// Reports an event. It waits until the process yields.
    pub fn schedule(&mut self, id: UpcallId, arguments: [u32; 3]) -> Result<(), ErrorCode> {
        if self.ignores(id) {
            return Ok(());
        }
        self.upcalls.push(Upcall { id, arguments })?;
        self.note(id);
        Ok(())
    }

    /// Reports what another process has sent.
    pub fn notify(&mut self, id: UpcallId, arguments: [u32; 3]) -> Result<(), ErrorCode> {
        if self.ignores(id) {
            return Ok(());
        }
        self.upcalls.push_foreign(Upcall { id, arguments })?;
        self.note(id);
        Ok(())
    }

    /// Reports that another process has a request: its id and more.
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

    /// Notes that the queue has this upcall now: whether the process can run then shows without a search.
    fn note(&mut self, id: UpcallId) {
        if self.state == State::YieldedFor(id) {
            self.state = State::Awaited(id);
        }
    }

    /// Does the process wait for any upcall that it subscribed to, and this is none? It is then dropped at
    /// once, so that a queue that is not empty makes the process run.
    fn ignores(&self, id: UpcallId) -> bool {
        self.state == State::Yielded && handler(&self.subscriptions, id).is_none()
    }

    /// Could the process run if it were given the core?
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

    /// Makes the process run its oldest waiting upcall that it subscribed to, if there is one; the others
    /// before it are dropped.
    pub fn run_upcall(&mut self) -> bool {
        !self.upcalls.is_empty() && (self.run_first_upcall() || self.run_later_upcall())
    }

    #[inline(never)] // so that a call which finds none saves no registers for it
    fn run_first_upcall(&mut self) -> bool {
        let found = self
            .upcalls
            .pop_first(|id| handler(&self.subscriptions, id));
        self.run(found)
    }

    #[inline(never)]
    fn run_later_upcall(&mut self) -> bool {
        let found = self.upcalls.pop(|id| handler(&self.subscriptions, id));
        self.run(found)
    }

    fn run(&mut self, found: Option<(Upcall, Subscription)>) -> bool {
        let Some((upcall, handler)) = found else {
            return false;
        };
        let [first, second, third] = self.arguments(upcall);
        let arguments = [first, second, third, handler.userdata];
        self.frame.call(handler.function, arguments);
        true
    }

    /// Hands the arguments of the oldest upcall with this id to the process, calling nothing.
    pub fn take_upcall(&mut self, id: UpcallId) -> bool {
        let Some(upcall) = self.upcalls.pop_id(id) else {
            return false;
        };
        let [first, second, third] = self.arguments(upcall);
        self.frame.set_result([first, second, third, 0]);
        true
    }

    /// An upcall's arguments. One that another process has sent holds that process's index, and comes
    /// with the buffer that it shares now.
    fn arguments(&mut self, upcall: Upcall) -> [u32; 3] {
        if !is_from_process(upcall.id) {
            return upcall.arguments;
        }
        let [sender, ..] = upcall.arguments;
        let buffer = self.inbox.open(sender as usize);
        [sender + FIRST_PROCESS, buffer.length(), buffer.start()]
    }
}

/// What of these a process subscribed to this upcall with.
fn handler(
    subscriptions: &[Subscription; SUBSCRIPTION_SLOTS],
    id: UpcallId,
) -> Option<Subscription> {
    let slot = subscription_slot(id).ok()?;
    Some(subscriptions[slot]).filter(|handler| handler.function != 0)
}

/// The place of the living process with this id.
#[cfg(not(feature = "abi-v1"))]
pub fn place_of(id: u32, processes: &Processes) -> Option<usize> {
    let place = id as usize % MAX_PROCESSES;
    let process = &processes[place];
    let lives = process.exists() && process.state != State::Stopped;
    (lives && process.id(place) == id).then_some(place)
}

impl Default for Process {
    fn default() -> Process {
        Process::new()
    }
}
