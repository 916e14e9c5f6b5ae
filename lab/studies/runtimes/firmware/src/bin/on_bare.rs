// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Bare Rust: one flow of control, which sleeps until an interrupt's handler sets a flag. It has no tasks, so
//! rows with another task have no equal.

#![no_std]
#![no_main]

use chip::report::{BY_READING, Report, TO_HANDLER, TO_TASK};
use chip::{LINE, WRONG, options, read, set_up, sleep, timer, uart};
use chip::{tm_mark_arm, tm_mark_first, tm_mark_handler, tm_mark_task};
use core::sync::atomic::{AtomicBool, Ordering};
use riscv::interrupt::{Interrupt, disable, enable};

chip::named!("bare Rust");

static RANG: AtomicBool = AtomicBool::new(false);
static SENT: AtomicBool = AtomicBool::new(false);

#[riscv_rt::core_interrupt(Interrupt::MachineTimer)]
fn on_timer() {
    tm_mark_handler();
    timer::set(timer::NEVER);
    RANG.store(true, Ordering::Relaxed);
}

#[riscv_rt::core_interrupt(Interrupt::MachineExternal)]
fn on_uart() {
    uart::acknowledge();
    SENT.store(true, Ordering::Relaxed);
}

/// Waits for a flag. The core sleeps, with interrupts off so that none comes between check and sleep.
fn wait_for(flag: &AtomicBool) {
    loop {
        disable();
        let is_set = flag.load(Ordering::Relaxed);
        if !is_set {
            sleep();
        }
        // Safety: no critical section is open.
        unsafe { enable() };
        if is_set {
            return flag.store(false, Ordering::Relaxed);
        }
    }
}

#[expect(clippy::missing_spin_loop, reason = "a computation, not a wait")]
fn alarms(
    report: &mut Report,
    id: &'static str,
    params: &'static str,
    to: &'static str,
    busy: bool,
) {
    let row = report.row(id, params, to, 16);
    for sample in 0..row.wanted {
        tm_mark_arm();
        timer::set(timer::now() + timer::delay(sample));
        if busy {
            while !RANG.load(Ordering::Relaxed) {}
        }
        wait_for(&RANG);
        tm_mark_task();
    }
    report.put(&row, timer::due() == timer::NEVER);
}

fn alone(report: &mut Report) {
    let start = report.row("cost.start", "", "clock=sim from=reset to=first", 1);
    report.put(&start, true);
    let mut row = report.row("cost.timer", "", BY_READING, 25);
    for _ in 0..row.wanted {
        let from = read();
        timer::set(timer::now() + timer::SECOND);
        timer::set(timer::NEVER - u64::from(WRONG));
        row.push(from, read());
    }
    report.put(&row, timer::due() == timer::NEVER);
    let mut row = report.row("cost.line", "", BY_READING, 25);
    for _ in 0..row.wanted {
        let from = read();
        uart::send(LINE);
        wait_for(&SENT);
        row.push(from, read());
    }
    report.put(&row, !SENT.load(Ordering::Relaxed));
}

const NO_TASKS: &str = "reason=\"bare Rust has no tasks\"";

#[riscv_rt::entry]
fn main() -> ! {
    tm_mark_first();
    set_up();
    let mut report = Report::begin();
    match options().scene {
        0 => alone(&mut report),
        1 => {
            alarms(
                &mut report,
                "cost.interrupt",
                "core=asleep",
                TO_HANDLER,
                false,
            );
            alarms(&mut report, "cost.alarm", "core=asleep", TO_TASK, false);
        }
        2 => {
            alarms(&mut report, "cost.interrupt", "core=busy", TO_HANDLER, true);
            report.skip("cost.alarm", "core=busy", NO_TASKS);
        }
        _ => {
            report.skip("cost.switch", "", NO_TASKS);
            for size in ["size=4", "size=64", "size=1024"] {
                report.skip("cost.message", size, NO_TASKS);
            }
        }
    }
    report.end();
}
