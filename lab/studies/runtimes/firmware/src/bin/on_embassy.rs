// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Embassy: tasks that await, on one executor. On this core it has no second executor that preempts, so next
//! to a task that computes no alarm reaches another task before that task awaits.

#![no_std]
#![no_main]

use chip::report::{BY_READING, Report, TO_HANDLER, TO_TASK};
use chip::{LINE, WRONG, answer, message, options, poll_once, read, set_up, timer, uart};
use chip::{tm_mark_arm, tm_mark_first, tm_mark_handler, tm_mark_task};
use core::cell::RefCell;
use core::task::Waker;
use critical_section::Mutex;
use embassy_executor::Executor;
use embassy_sync::blocking_mutex::raw::CriticalSectionRawMutex;
use embassy_sync::channel::Channel;
use embassy_sync::signal::Signal;
use embassy_time::Timer;
use embassy_time_driver::Driver;
use embassy_time_queue_utils::Queue;
use riscv::interrupt::Interrupt;
use static_cell::StaticCell;

chip::named!("Embassy");

/// Embassy's time by rv_timer.
struct Alarms {
    queue: Mutex<RefCell<Queue>>,
}

embassy_time_driver::time_driver_impl!(static ALARMS: Alarms = Alarms {
    queue: Mutex::new(RefCell::new(Queue::new())),
});

impl Driver for Alarms {
    fn now(&self) -> u64 {
        timer::now()
    }

    fn schedule_wake(&self, at: u64, waker: &Waker) {
        critical_section::with(|section| {
            let mut queue = self.queue.borrow_ref_mut(section);
            if queue.schedule_wake(at, waker) {
                timer::set(queue.next_expiration(timer::now()));
            }
        });
    }
}

#[riscv_rt::core_interrupt(Interrupt::MachineTimer)]
fn on_timer() {
    tm_mark_handler();
    critical_section::with(|section| {
        let mut queue = ALARMS.queue.borrow_ref_mut(section);
        timer::set(queue.next_expiration(timer::now()));
    });
}

static SENT: Signal<CriticalSectionRawMutex, ()> = Signal::new();

#[riscv_rt::core_interrupt(Interrupt::MachineExternal)]
fn on_uart() {
    uart::acknowledge();
    SENT.signal(());
}

type Messages<const WORDS: usize> = Channel<CriticalSectionRawMutex, [u32; WORDS], 1>;
static ASK: Signal<CriticalSectionRawMutex, u32> = Signal::new();
static ANSWER: Signal<CriticalSectionRawMutex, u32> = Signal::new();
static SMALL: Messages<1> = Channel::new();
static MEDIUM: Messages<16> = Channel::new();
static LARGE: Messages<256> = Channel::new();

async fn serve<const WORDS: usize>(messages: &Messages<WORDS>, count: u32) {
    for _ in 0..count {
        let copy = messages.receive().await;
        ANSWER.signal(answer(&copy) ^ u32::from(WRONG));
    }
}

#[embassy_executor::task]
async fn peer(count: u32) {
    for _ in 0..count {
        let number = ASK.wait().await;
        ANSWER.signal(number + 1 + u32::from(WRONG));
    }
    serve(&SMALL, count).await;
    serve(&MEDIUM, count).await;
    serve(&LARGE, count).await;
}

async fn switches(report: &mut Report) {
    let mut row = report.row("cost.switch", "", BY_READING, 25);
    let mut is_right = true;
    for sample in 0..row.wanted {
        let from = read();
        ASK.signal(sample);
        let got = ANSWER.wait().await;
        row.push(from, read());
        is_right &= got == sample + 1;
    }
    report.put(&row, is_right);
}

async fn messages<const WORDS: usize>(
    report: &mut Report,
    size: &'static str,
    to: &Messages<WORDS>,
) {
    let mut row = report.row("cost.message", size, BY_READING, 25);
    let mut is_right = true;
    for sample in 0..row.wanted {
        let sent = message::<WORDS>(sample);
        let from = read();
        to.send(sent).await;
        let got = ANSWER.wait().await;
        row.push(from, read());
        is_right &= got == answer(&message::<WORDS>(sample));
    }
    report.put(&row, is_right);
}

async fn alarms(report: &mut Report, id: &'static str, params: &'static str, to: &'static str) {
    let row = report.row(id, params, to, 16);
    for sample in 0..row.wanted {
        tm_mark_arm();
        Timer::after_micros(timer::delay(sample)).await;
        tm_mark_task();
    }
    report.put(&row, timer::due() == timer::NEVER);
}

/// An interrupt while the only task computes.
fn busy(report: &mut Report) {
    let row = report.row("cost.interrupt", "core=busy", TO_HANDLER, 16);
    for sample in 0..row.wanted {
        tm_mark_arm();
        timer::set(timer::now() + timer::delay(sample));
        while timer::due() != timer::NEVER {
            (0..100).for_each(|turn| _ = core::hint::black_box(turn));
        }
    }
    report.put(&row, timer::due() == timer::NEVER);
}

async fn alone(report: &mut Report) {
    let start = report.row("cost.start", "", "clock=sim from=reset to=first", 1);
    report.put(&start, true);
    let mut row = report.row("cost.timer", "", BY_READING, 25);
    for _ in 0..row.wanted {
        let from = read();
        poll_once(Timer::after_micros(timer::SECOND)).await;
        row.push(from, read());
    }
    report.put(&row, timer::due() != timer::NEVER);
    let mut row = report.row("cost.line", "", BY_READING, 25);
    for _ in 0..row.wanted {
        let from = read();
        uart::send(LINE);
        SENT.wait().await;
        row.push(from, read());
    }
    report.put(&row, !SENT.signaled());
}

const ALONE: &str = "reason=\"no task runs before another awaits\"";

#[embassy_executor::task]
async fn leader(spawner: embassy_executor::Spawner) {
    tm_mark_first();
    set_up();
    let mut report = Report::begin();
    match options().scene {
        0 => alone(&mut report).await,
        1 => {
            alarms(&mut report, "cost.interrupt", "core=asleep", TO_HANDLER).await;
            alarms(&mut report, "cost.alarm", "core=asleep", TO_TASK).await;
        }
        2 => {
            busy(&mut report);
            report.skip("cost.alarm", "core=busy", ALONE);
        }
        _ => {
            spawner.spawn(peer(25).unwrap());
            switches(&mut report).await;
            messages(&mut report, "size=4", &SMALL).await;
            messages(&mut report, "size=64", &MEDIUM).await;
            messages(&mut report, "size=1024", &LARGE).await;
        }
    }
    report.end();
}

#[riscv_rt::entry]
fn main() -> ! {
    static EXECUTOR: StaticCell<Executor> = StaticCell::new();
    let executor = EXECUTOR.init(Executor::new());
    executor.run(|spawner| spawner.spawn(leader(spawner).unwrap()));
}
