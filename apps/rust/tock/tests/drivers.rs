// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Console, alarm, Perf and IPC on a kernel that answers like the real ones, or wrongly.

use std::fmt::Write;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU32, Ordering};

use tock::fake::{self, Answer, Call};
use tock::ipc::{self, Shared};
use tock::{ErrorCode, Kernel, Syscalls, abi, alarm, console, perf};

fn loads(words: &[AtomicU32]) -> Vec<u32> {
    words
        .iter()
        .map(|word| word.load(Ordering::Relaxed))
        .collect()
}

#[test]
fn the_console_prints_all_of_it() {
    let text: Vec<u8> = (0..150).collect();
    console::write(&text).unwrap();
    assert_eq!(fake::printed(), text);
    assert!(fake::has_nothing());
    write!(console::Writer, "{}-{}", 1, 2).unwrap();
    assert_eq!(fake::printed(), b"1-2");
}

#[test]
fn the_console_waits_for_its_own_upcall() {
    static OTHER: AtomicBool = AtomicBool::new(false);
    Kernel::subscribe_static(0x99, 1, &OTHER).unwrap();
    fake::schedule(0x99, 1, [0; 3]);
    console::write(b"text").unwrap();
    let yields = fake::calls()
        .into_iter()
        .filter(|call| *call == Call::YieldWait);
    assert_eq!(yields.count(), 2);
    assert!(OTHER.load(Ordering::Relaxed));
    assert_eq!(fake::printed(), b"text");
    Kernel::unsubscribe(0x99, 1);
}

#[test]
fn a_failing_console_is_an_error() {
    fake::refuse(abi::TOCK_SUBSCRIBE, ErrorCode::NoMem);
    assert_eq!(console::write(b"text"), Err(ErrorCode::NoMem));
    fake::driver(abi::TOCK_CONSOLE, |_, _, _| Answer::Fails(ErrorCode::Busy));
    assert_eq!(console::write(b"text"), Err(ErrorCode::Busy));
    assert!(write!(console::Writer, "text").is_err());
    fake::driver(abi::TOCK_CONSOLE, |_, length, _| {
        fake::schedule(abi::TOCK_CONSOLE, 1, [length - 1, 0, 0]);
        Answer::Done
    });
    assert_eq!(console::write(b"text"), Err(ErrorCode::Fail));
    assert!(fake::has_nothing());
}

#[test]
fn a_nap_lasts_at_least_its_time() {
    alarm::nap(20).unwrap();
    let set = fake::calls().into_iter().rev().find_map(|call| match call {
        Call::Command(abi::TOCK_ALARM, _, ticks, _) => Some(ticks),
        _ => None,
    });
    // 200 ticks at 10 kHz, plus one for the tick that has begun; version 1 gets an absolute time.
    let now = if cfg!(feature = "abi-v1") { 1 } else { 0 };
    assert_eq!(set, Some(now + 201));
    assert!(fake::has_nothing());
    fake::refuse(abi::TOCK_SUBSCRIBE, ErrorCode::NoMem);
    assert_eq!(alarm::nap(20), Err(ErrorCode::NoMem));
    fake::driver(abi::TOCK_ALARM, |_, _, _| {
        Answer::Fails(ErrorCode::NoDevice)
    });
    assert_eq!(alarm::nap(20), Err(ErrorCode::NoDevice));
}

#[test]
fn the_alarm_rings() {
    static RANG: AtomicBool = AtomicBool::new(false);
    alarm::subscribe_static(&RANG).unwrap();
    alarm::after(5).unwrap();
    Kernel::yield_wait();
    assert!(RANG.load(Ordering::Relaxed));
    alarm::unsubscribe();
    assert!(fake::has_nothing());
    assert!(alarm::now() < alarm::now());
}

#[test]
fn perf_counts_and_calls_back() {
    static CAME: AtomicU32 = AtomicU32::new(0);
    fn on_upcall(cycles: u32, instret: u32, word: u32) {
        assert!(cycles < instret);
        CAME.store(word, Ordering::Relaxed);
    }
    assert!(perf::exists());
    assert!(perf::cycles() < perf::instret());
    perf::subscribe_static(&on_upcall).unwrap();
    perf::schedule_upcall(42).unwrap();
    Kernel::yield_wait();
    assert_eq!(CAME.load(Ordering::Relaxed), 42);
    perf::unsubscribe();
    assert!(fake::has_nothing());
    #[cfg(not(feature = "abi-v1"))]
    {
        let (cycles, instret) = perf::both();
        assert_eq!(cycles + 1, instret);
        perf::schedule_upcall(43).unwrap();
        assert_eq!(perf::wait_for_upcall().2, 43);
    }
    fake::driver(abi::TM_PERF, |_, _, _| Answer::Fails(ErrorCode::NoDevice));
    assert!(!perf::exists());
    assert_eq!(perf::schedule_upcall(1), Err(ErrorCode::NoDevice));
}

/// IPC as in the kernel: there is one process, "server", with number 2.
fn server() {
    fake::driver(abi::TOCK_IPC, |command, _, _| {
        let name = fake::read(abi::TOCK_IPC, abi::TOCK_IPC_NAME);
        match command {
            1 if name == b"server" => Answer::Word(2),
            1 => Answer::Fails(ErrorCode::NoDevice),
            _ => Answer::Fails(ErrorCode::Invalid),
        }
    });
}

#[test]
fn processes_are_found_by_name() {
    static NAME: [AtomicU8; 6] = ipc::name(b"server");
    server();
    assert_eq!(ipc::find("server"), Ok(2));
    assert!(fake::has_nothing(), "the copy of the name is gone");
    assert_eq!(ipc::find("nobody"), Err(ErrorCode::NoDevice));
    assert_eq!(ipc::find(&"x".repeat(65)), Err(ErrorCode::Size));
    assert_eq!(ipc::find_static(&NAME), Ok(2));
}

#[test]
fn processes_are_notified() {
    fake::driver(abi::TOCK_IPC, |_, _, _| Answer::Done);
    ipc::notify_service(7).unwrap();
    ipc::notify_client(7).unwrap();
    #[cfg(not(feature = "abi-v1"))]
    let expected = [(2, 7), (3, 7)];
    #[cfg(feature = "abi-v1")]
    let expected = [(7, 0), (7, 1)];
    let expected = expected.map(|(command, first)| Call::Command(abi::TOCK_IPC, command, first, 0));
    assert_eq!(fake::calls(), expected);
    fake::driver(abi::TOCK_IPC, |_, _, _| Answer::Fails(ErrorCode::NoMem));
    assert_eq!(ipc::notify_service(7), Err(ErrorCode::NoMem));
}

#[test]
fn a_service_has_the_upcall_of_its_version() {
    fn nothing(_: u32, _: Shared<'_>) {}
    let own = if cfg!(feature = "abi-v1") { 0 } else { 3 };
    ipc::serve(3, &nothing).unwrap();
    ipc::unserve(3);
    ipc::listen(4, &nothing).unwrap();
    ipc::unlisten(4);
    let expected = [
        Call::Subscribe(abi::TOCK_IPC, own),
        Call::Unsubscribe(abi::TOCK_IPC, own),
        Call::Subscribe(abi::TOCK_IPC, 4),
        Call::Unsubscribe(abi::TOCK_IPC, 4),
    ];
    assert_eq!(fake::calls(), expected);
}

#[test]
fn the_kernel_has_shared_memory_until_it_is_taken_back() {
    static MEMORY: [AtomicU32; 4] = [const { AtomicU32::new(0) }; 4];
    ipc::share(5, &MEMORY).unwrap();
    fake::write(abi::TOCK_IPC, 5, &[1; 8]);
    assert_eq!(loads(&MEMORY), [0x0101_0101, 0x0101_0101, 0, 0]);
    ipc::unshare(5);
    assert!(fake::has_nothing());
}

/// Makes `notified` get this memory, shared by process 9.
fn notify(shared: &'static [AtomicU8], notified: &'static impl ipc::Notified) {
    ipc::listen(1, notified).unwrap();
    fake::notify(1, 9, shared);
    Kernel::yield_wait();
    ipc::unlisten(1);
}

/// Eight words, aligned to four; the tests use the bytes that they need.
#[repr(align(4))]
struct Bytes([AtomicU8; 32]);

#[test]
fn shared_memory_is_read_and_written_in_bounds() {
    static SHARED: Bytes = Bytes([const { AtomicU8::new(2) }; 32]);
    static SEEN: AtomicU32 = AtomicU32::new(0);
    notify(&SHARED.0[..14], &|sender: u32, shared: Shared<'_>| {
        assert_eq!((sender, shared.len(), shared.is_empty()), (9, 3, false));
        assert_eq!(shared.get(2), Some(0x0202_0202));
        assert_eq!(shared.get(3), None);
        assert_eq!(shared.get(usize::MAX), None);
        assert_eq!(shared.set(1, 0x0706_0504), Some(()));
        assert_eq!(shared.set(3, 1), None);
        let mut copy = [0; 2];
        assert_eq!(shared.copy_to(&mut copy, 1), Some(()));
        assert_eq!(copy, [0x0706_0504, 0x0202_0202]);
        assert_eq!(shared.copy_to(&mut copy, 2), None);
        assert_eq!(shared.copy_to(&mut copy, usize::MAX), None);
        assert_eq!(shared.copy_to(&mut [], 3), Some(()));
        SEEN.fetch_add(1, Ordering::Relaxed);
    });
    assert_eq!(SEEN.load(Ordering::Relaxed), 1);
    let bytes = SHARED.0[..10]
        .iter()
        .map(|byte| byte.load(Ordering::Relaxed));
    assert!(bytes.eq([2, 2, 2, 2, 4, 5, 6, 7, 2, 2]));
}

#[test]
fn memory_at_an_odd_address_is_empty() {
    static SHARED: Bytes = Bytes([const { AtomicU8::new(2) }; 32]);
    for bytes in [&SHARED.0[1..17], &SHARED.0[2..18], &SHARED.0[..3], &[]] {
        notify(bytes, &|_: u32, shared: Shared<'_>| {
            assert!(shared.is_empty());
            assert_eq!(shared.get(0), None);
            assert_eq!(shared.set(0, 1), None);
        });
    }
}

#[cfg(not(feature = "abi-v1"))]
mod relayed {
    use super::*;
    use tock::relay::{self, Process, Registry};

    const SERVICE: Process = Process { low: 7, high: 1 };

    #[test]
    fn a_search_returns_the_process_of_its_upcall() {
        fake::driver(abi::TOCK_BY_PACKAGE, |number, _, _| {
            let words = if number == abi::TOCK_REGISTER {
                [0; 3]
            } else {
                [0, 7, 1]
            };
            fake::schedule(abi::TOCK_BY_PACKAGE, number - 1, words);
            Answer::Done
        });
        Registry::Package.name(b"service").unwrap();
        assert_eq!(fake::read(abi::TOCK_BY_PACKAGE, 0), b"service");
        assert_eq!(Registry::Package.register(), Ok(()));
        assert_eq!(Registry::Package.find(), Ok(SERVICE));
        fake::driver(abi::TOCK_BY_PACKAGE, |number, _, _| {
            let none = [ErrorCode::NoDevice as u32, 0, 0];
            fake::schedule(abi::TOCK_BY_PACKAGE, number - 1, none);
            Answer::Done
        });
        assert_eq!(Registry::Package.find(), Err(ErrorCode::NoDevice));
        fake::driver(abi::TOCK_BY_PACKAGE, |_, _, _| {
            Answer::Fails(ErrorCode::NoMem)
        });
        assert_eq!(
            Registry::Package.find(),
            Err(ErrorCode::NoMem),
            "it waits for nothing"
        );
    }

    #[test]
    fn requests_and_answers_are_returned_unchanged() {
        static OUT: [AtomicU32; 2] = [AtomicU32::new(1), AtomicU32::new(2)];
        static ROOM: [AtomicU32; 1] = [AtomicU32::new(0)];
        relay::out(&OUT).unwrap();
        relay::room(&ROOM).unwrap();
        assert_eq!(fake::read(abi::TOCK_RELAY, 0), [1, 0, 0, 0, 2, 0, 0, 0]);
        fake::driver(abi::TOCK_RELAY, |number, low, high| match number {
            abi::TOCK_RELAY_SEND => {
                assert_eq!([low, high], [7, 1]);
                fake::schedule(abi::TOCK_RELAY, abi::TOCK_RELAY_ANSWER, [0, 4, 0]);
                Answer::Done
            }
            abi::TOCK_RELAY_TAKE => Answer::Raw([abi::TOCK_SUCCESS_U32_U64, 8, 7, 1]),
            abi::TOCK_RELAY_TAKE_OF => {
                Answer::Raw([abi::TOCK_FAILURE_U64, ErrorCode::Size as u32, 7, 1])
            }
            _ => Answer::Fails(ErrorCode::Already),
        });
        assert_eq!(relay::send(SERVICE), Ok(()));
        assert_eq!(relay::answer(), Ok(4));
        assert_eq!(relay::take(), Ok((8, SERVICE)));
        assert_eq!(relay::take_of(SERVICE), Err(ErrorCode::Size));
        assert_eq!(relay::respond(), Err(ErrorCode::Already));
        let cancelled = [ErrorCode::Cancel as u32, 0, 0];
        fake::schedule(abi::TOCK_RELAY, abi::TOCK_RELAY_ANSWER, cancelled);
        assert_eq!(relay::answer(), Err(ErrorCode::Cancel));
        fake::schedule(abi::TOCK_RELAY, abi::TOCK_RELAY_REQUEST, [7, 1, 0]);
        assert_eq!(relay::request(), SERVICE);
    }
}
