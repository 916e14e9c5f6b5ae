// SPDX-License-Identifier: Apache-2.0 OR MIT

//! RTIC: tasks with priorities, which preempt each other by software interrupts.

#![no_std]
#![no_main]

use chip::timer;
use rtic_time::timer_queue::{TimerQueue, TimerQueueBackend};

chip::named!("RTIC");

/// RTIC's time by rv_timer.
struct Alarms;

static QUEUE: TimerQueue<Alarms> = TimerQueue::new();

impl TimerQueueBackend for Alarms {
    type Ticks = u64;

    fn now() -> u64 {
        timer::now()
    }

    fn set_compare(instant: u64) {
        timer::set(instant);
    }

    fn clear_compare_flag() {
        timer::set(timer::NEVER);
    }

    fn pend_interrupt() {
        timer::set(0);
    }

    fn timer_queue() -> &'static TimerQueue<Self> {
        &QUEUE
    }
}

#[rtic::app(device = riscv, peripherals = false)]
mod app {
    use super::{Alarms, QUEUE};
    use chip::report::{BY_READING, Report, TO_HANDLER, TO_TASK};
    use chip::{LINE, answer, message, options, poll_once, read, set_up, sleep, timer, uart};
    use chip::{WRONG, tm_mark_arm, tm_mark_first, tm_mark_handler, tm_mark_task};
    use core::pin::pin;
    use core::sync::atomic::{AtomicBool, Ordering};
    use riscv; // the macros name it in this module
    use riscv::interrupt::Interrupt;
    use rtic_sync::channel::{Receiver, Sender};
    use rtic_sync::make_channel;
    use rtic_sync::signal::{Signal, SignalReader};

    static SENT: Signal<()> = Signal::new();
    static ASK: Signal<u32> = Signal::new();
    static ANSWER: Signal<u32> = Signal::new();
    /// Whether the timer's interrupt is for the hardware task.
    static BY_TASK: AtomicBool = AtomicBool::new(false);

    #[riscv_rt::core_interrupt(Interrupt::MachineTimer)]
    fn on_timer() {
        if BY_TASK.load(Ordering::Relaxed) {
            timer::set(timer::NEVER);
            rtic::export::pend(slic::SoftwareInterrupt::Rang);
        } else {
            // Safety: this is the timer's interrupt.
            unsafe { QUEUE.on_monotonic_interrupt() };
        }
    }

    #[riscv_rt::core_interrupt(Interrupt::MachineExternal)]
    fn on_uart() {
        uart::acknowledge();
        SENT.writer().write(());
    }

    #[shared]
    struct Shared {}

    #[local]
    struct Local {}

    #[init]
    fn init(_: init::Context) -> (Shared, Local) {
        leader::spawn().unwrap();
        (Shared {}, Local {})
    }

    /// Computes or sleeps when no task runs.
    #[idle]
    fn idle(_: idle::Context) -> ! {
        loop {
            if options().scene != 2 {
                sleep();
            }
        }
    }

    /// The handler of the timer's interrupt: in RTIC a task, which a software interrupt starts.
    #[task(binds = Rang, priority = 3)]
    fn rang(_: rang::Context) {
        tm_mark_handler();
        // Safety: it runs because of the timer's interrupt.
        unsafe { QUEUE.on_monotonic_interrupt() };
    }

    type Inbox<const WORDS: usize> = Receiver<'static, [u32; WORDS], 1>;
    type Outbox<const WORDS: usize> = Sender<'static, [u32; WORDS], 1>;

    async fn serve<const WORDS: usize>(mut inbox: Inbox<WORDS>, count: u32) {
        for _ in 0..count {
            if let Ok(copy) = inbox.recv().await {
                ANSWER.writer().write(answer(&copy) ^ u32::from(WRONG));
            }
        }
    }

    #[task(priority = 2)]
    async fn peer(_: peer::Context, small: Inbox<1>, medium: Inbox<16>, large: Inbox<256>) {
        let mut ask = ASK.take_reader();
        for _ in 0..25 {
            let number = ask.wait().await;
            ANSWER.writer().write(number + 1 + u32::from(WRONG));
        }
        serve(small, 25).await;
        serve(medium, 25).await;
        serve(large, 25).await;
    }

    async fn switches(report: &mut Report, answers: &mut SignalReader<'static, u32>) {
        let mut row = report.row("cost.switch", "", BY_READING, 25);
        let mut is_right = true;
        for sample in 0..row.wanted {
            let from = read();
            ASK.writer().write(sample);
            let got = answers.wait().await;
            row.push(from, read());
            is_right &= got == sample + 1;
        }
        report.put(&row, is_right);
    }

    async fn messages<const WORDS: usize>(
        report: &mut Report,
        size: &'static str,
        mut to: Outbox<WORDS>,
        answers: &mut SignalReader<'static, u32>,
    ) {
        let mut row = report.row("cost.message", size, BY_READING, 25);
        let mut is_right = true;
        for sample in 0..row.wanted {
            let sent = message::<WORDS>(sample);
            let from = read();
            is_right &= to.send(sent).await.is_ok();
            let got = answers.wait().await;
            row.push(from, read());
            is_right &= got == answer(&message::<WORDS>(sample));
        }
        report.put(&row, is_right);
    }

    async fn rounds(report: &mut Report) {
        let (to_small, small) = make_channel!([u32; 1], 1);
        let (to_medium, medium) = make_channel!([u32; 16], 1);
        let (to_large, large) = make_channel!([u32; 256], 1);
        let is_spawned = peer::spawn(small, medium, large).is_ok();
        assert!(is_spawned);
        let mut answers = ANSWER.take_reader();
        switches(report, &mut answers).await;
        messages(report, "size=4", to_small, &mut answers).await;
        messages(report, "size=64", to_medium, &mut answers).await;
        messages(report, "size=1024", to_large, &mut answers).await;
    }

    async fn alarms(report: &mut Report, id: &'static str, params: &'static str, to: &'static str) {
        let row = report.row(id, params, to, 16);
        BY_TASK.store(to == TO_HANDLER, Ordering::Relaxed);
        for sample in 0..row.wanted {
            let mut alarm = pin!(QUEUE.delay(timer::delay(sample)));
            poll_once(alarm.as_mut()).await; // RTIC sets the timer in an interrupt, which comes now
            tm_mark_arm();
            alarm.await;
            tm_mark_task();
        }
        report.put(&row, timer::due() == timer::NEVER);
    }

    async fn alone(report: &mut Report) {
        let start = report.row("cost.start", "", "clock=sim from=reset to=first", 1);
        report.put(&start, true);
        let mut row = report.row("cost.timer", "", BY_READING, 25);
        for _ in 0..row.wanted {
            let from = read();
            poll_once(QUEUE.delay(timer::SECOND)).await;
            row.push(from, read());
        }
        report.put(&row, timer::due() != timer::NEVER);
        let mut sent = SENT.take_reader();
        let mut row = report.row("cost.line", "", BY_READING, 25);
        for _ in 0..row.wanted {
            let from = read();
            uart::send(LINE);
            sent.wait().await;
            row.push(from, read());
        }
        report.put(&row, sent.try_read().is_none());
    }

    #[task(priority = 1)]
    async fn leader(_: leader::Context) {
        tm_mark_first();
        set_up();
        QUEUE.initialize(Alarms);
        let mut report = Report::begin();
        match options().scene {
            0 => alone(&mut report).await,
            1 => {
                alarms(&mut report, "cost.interrupt", "core=asleep", TO_HANDLER).await;
                alarms(&mut report, "cost.alarm", "core=asleep", TO_TASK).await;
            }
            2 => {
                alarms(&mut report, "cost.interrupt", "core=busy", TO_HANDLER).await;
                alarms(&mut report, "cost.alarm", "core=busy", TO_TASK).await;
            }
            _ => rounds(&mut report).await,
        }
        report.end();
    }
}
