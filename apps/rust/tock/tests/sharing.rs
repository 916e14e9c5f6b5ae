// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The memory and functions that the kernel has at each moment.

use std::cell::{Cell, RefCell};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU32, Ordering};

#[cfg(not(feature = "abi-v1"))]
use tock::YieldNoWaitReturn;
use tock::fake::{self, Answer, Call};
use tock::{AllowRw, ErrorCode, Kernel, Subscribe, Syscalls, Upcall, abi, share};

const DRIVER: u32 = 0x99;

#[cfg(not(feature = "abi-v1"))]
const ALLOW_RW: u32 = abi::TOCK_ALLOW_RW;
#[cfg(feature = "abi-v1")]
const ALLOW_RW: u32 = abi::TOCK_ALLOW;

type Both<'share> = (
    AllowRw<'share, Kernel, DRIVER, 3>,
    Subscribe<'share, Kernel, DRIVER, 5>,
);

/// Fills the buffer with the command's byte, and schedules the upcall.
fn filler(byte: u32, word: u32) -> Answer {
    fake::write(DRIVER, 3, &[byte as u8; 64]);
    fake::schedule(DRIVER, 5, [word, 2, 3]);
    Answer::Done
}

#[test]
fn a_scope_takes_everything_back_in_order() {
    fake::driver(DRIVER, |_, first, second| filler(first, second));
    let mut buffer = [0u8; 6];
    let came = Cell::new(None);
    let done = share::scope::<Both<'_>, _, _>(|handle| {
        let (allow, subscribe) = handle.split();
        Kernel::allow_rw(allow, &mut buffer)?;
        Kernel::subscribe(subscribe, &came)?;
        Kernel::command(DRIVER, 1, 9, 77).check()?;
        assert_eq!(came.get(), None, "upcalls run in a yield");
        Kernel::yield_wait();
        Ok::<_, ErrorCode>("done")
    });
    assert_eq!(done, Ok("done"));
    assert_eq!(buffer, [9; 6]);
    assert_eq!(came.get(), Some((77, 2, 3)));
    let expected = [
        Call::AllowRw(DRIVER, 3, 6),
        Call::Subscribe(DRIVER, 5),
        Call::Command(DRIVER, 1, 9, 77),
        Call::YieldWait,
        Call::UnallowRw(DRIVER, 3),
        Call::Unsubscribe(DRIVER, 5),
    ];
    assert_eq!(fake::calls(), expected);
    assert!(fake::has_nothing());
}

#[test]
fn it_does_so_when_the_body_returns_early() {
    let mut buffer = [0u8; 6];
    let came = Cell::new(false);
    for class in [ALLOW_RW, abi::TOCK_SUBSCRIBE] {
        fake::refuse(class, ErrorCode::NoMem);
        let done = share::scope::<Both<'_>, _, _>(|handle| {
            let (allow, subscribe) = handle.split();
            Kernel::allow_rw(allow, &mut buffer)?;
            Kernel::subscribe(subscribe, &came)
        });
        assert_eq!(done, Err(ErrorCode::NoMem));
        assert!(fake::has_nothing());
        let calls = fake::calls();
        let taken = [Call::UnallowRw(DRIVER, 3), Call::Unsubscribe(DRIVER, 5)];
        assert!(calls.ends_with(&taken), "{calls:?}");
    }
}

#[test]
fn it_does_so_when_the_body_panics() {
    let mut buffer = [0u8; 6];
    let body = || {
        share::scope::<AllowRw<_, DRIVER, 3>, _, _>(|handle| {
            Kernel::allow_rw(handle, &mut buffer).unwrap();
            assert!(!fake::has_nothing());
            panic!("as a test would");
        })
    };
    assert!(catch_unwind(AssertUnwindSafe(body)).is_err());
    assert!(fake::has_nothing());
}

#[test]
fn pending_upcalls_end_with_their_scope() {
    static LATER: AtomicBool = AtomicBool::new(false);
    let came = Cell::new(false);
    share::scope::<Subscribe<_, DRIVER, 5>, _, _>(|handle| {
        Kernel::subscribe(handle, &came).unwrap();
        fake::schedule(DRIVER, 5, [0; 3]);
    });
    Kernel::subscribe_static(DRIVER, 6, &LATER).unwrap();
    fake::schedule(DRIVER, 6, [0; 3]);
    Kernel::yield_wait();
    assert!(!came.get() && LATER.load(Ordering::Relaxed));
    Kernel::unsubscribe(DRIVER, 6);
}

#[test]
fn a_scope_within_another_takes_back_its_own() {
    let (outer, inner) = (Cell::new(0), Cell::new(0));
    let count = |_, _, _| outer.set(outer.get() + 1);
    share::scope::<Subscribe<_, DRIVER, 5>, _, _>(|handle| {
        Kernel::subscribe(handle, &count).unwrap();
        let count = |_, _, _| inner.set(inner.get() + 1);
        share::scope::<Subscribe<_, DRIVER, 6>, _, _>(|handle| {
            Kernel::subscribe(handle, &count).unwrap();
            fake::schedule(DRIVER, 6, [0; 3]);
            Kernel::yield_wait();
        });
        fake::schedule(DRIVER, 6, [0; 3]); // has no subscriber
        fake::schedule(DRIVER, 5, [0; 3]);
        Kernel::yield_wait();
    });
    assert_eq!((outer.get(), inner.get()), (1, 1));
    assert!(fake::has_nothing());
}

#[test]
fn an_upcall_may_yield_and_run_again_meanwhile() {
    let depths = RefCell::new(Vec::new());
    let depth = Cell::new(0);
    let upcall = |left, _, _| {
        depth.set(depth.get() + 1);
        depths.borrow_mut().push(depth.get());
        if left > 0 {
            fake::schedule(DRIVER, 5, [left - 1, 0, 0]);
            Kernel::yield_wait();
        }
        depth.set(depth.get() - 1);
    };
    share::scope::<Subscribe<_, DRIVER, 5>, _, _>(|handle| {
        Kernel::subscribe(handle, &upcall).unwrap();
        fake::schedule(DRIVER, 5, [2, 0, 0]);
        Kernel::yield_wait();
    });
    assert_eq!(depths.into_inner(), [1, 2, 3]);
}

#[test]
fn cells_keep_the_upcalls_words() {
    fn run(upcall: &impl Upcall) {
        share::scope::<Subscribe<_, DRIVER, 5>, _, _>(|handle| {
            Kernel::subscribe(handle, upcall).unwrap();
            fake::schedule(DRIVER, 5, [1, 2, u32::MAX]);
            Kernel::yield_wait();
        });
    }
    let came = Cell::new(false);
    run(&came);
    assert!(came.get());
    let nothing = Cell::new(None::<()>);
    run(&nothing);
    assert_eq!(nothing.get(), Some(()));
    let one = Cell::new(None);
    run(&one);
    assert_eq!(one.get(), Some((1,)));
    let two = Cell::new(None);
    run(&two);
    assert_eq!(two.get(), Some((1, 2)));
    let three = Cell::new(None);
    run(&three);
    assert_eq!(three.get(), Some((1, 2, u32::MAX)));
}

#[test]
fn static_memory_stays_until_it_is_taken_back() {
    static CAME: AtomicU32 = AtomicU32::new(0);
    static MEMORY: [AtomicU8; 8] = [const { AtomicU8::new(0) }; 8];
    fn on_upcall(first: u32, _: u32, _: u32) {
        CAME.store(first, Ordering::Relaxed);
    }
    fake::driver(DRIVER, |_, first, second| filler(first, second));
    Kernel::subscribe_static(DRIVER, 5, &on_upcall).unwrap();
    Kernel::allow_rw_static(DRIVER, 3, &MEMORY[2..]).unwrap();
    Kernel::command(DRIVER, 1, 7, 42).check().unwrap();
    Kernel::yield_wait();
    assert_eq!(CAME.load(Ordering::Relaxed), 42);
    let memory = MEMORY.each_ref().map(|byte| byte.load(Ordering::Relaxed));
    assert_eq!(memory, [0, 0, 7, 7, 7, 7, 7, 7]);
    Kernel::unallow_rw(DRIVER, 3);
    assert!(!fake::has_nothing());
    Kernel::unsubscribe(DRIVER, 5);
    assert!(fake::has_nothing());
}

#[test]
fn a_refusal_is_an_error() {
    static UPCALL: AtomicBool = AtomicBool::new(false);
    static MEMORY: AtomicU32 = AtomicU32::new(0);
    fake::refuse(abi::TOCK_SUBSCRIBE, ErrorCode::NoDevice);
    let subscribed = Kernel::subscribe_static(DRIVER, 5, &UPCALL);
    assert_eq!(subscribed, Err(ErrorCode::NoDevice));
    fake::refuse(ALLOW_RW, ErrorCode::Invalid);
    let allowed = Kernel::allow_rw_static(DRIVER, 3, &MEMORY);
    assert_eq!(allowed, Err(ErrorCode::Invalid));
    let absent = Kernel::command(0x9fff0, 0, 0, 0).get_failure();
    assert_eq!(absent, Some(ErrorCode::NoDevice));
}

#[cfg(not(feature = "abi-v1"))]
#[test]
fn read_only_buffers_are_read() {
    use tock::AllowRo;
    let buffer = *b"abc";
    share::scope::<AllowRo<_, DRIVER, 3>, _, _>(|handle| {
        Kernel::allow_ro(handle, &buffer[1..]).unwrap();
        assert_eq!(buffer, *b"abc", "we may read it, too");
        assert_eq!(fake::read(DRIVER, 3), b"bc");
    });
    assert_eq!(fake::read(DRIVER, 3), b"");
    Kernel::allow_ro_static(DRIVER, 3, b"static").unwrap();
    assert_eq!(fake::read(DRIVER, 3), b"static");
    Kernel::unallow_ro(DRIVER, 3);
    assert!(fake::has_nothing());
}

#[cfg(not(feature = "abi-v1"))]
#[test]
fn a_yield_without_wait_and_a_yield_for_an_upcall() {
    static CAME: AtomicBool = AtomicBool::new(false);
    assert_eq!(Kernel::yield_no_wait(), YieldNoWaitReturn::NoUpcall);
    Kernel::subscribe_static(DRIVER, 5, &CAME).unwrap();
    fake::schedule(DRIVER, 5, [0; 3]);
    fake::schedule(DRIVER, 6, [4, 5, 6]);
    assert_eq!(Kernel::yield_wait_for(DRIVER, 6), (4, 5, 6));
    assert!(!CAME.load(Ordering::Relaxed), "it waits");
    assert_eq!(Kernel::yield_no_wait(), YieldNoWaitReturn::Upcall);
    assert!(CAME.load(Ordering::Relaxed));
    Kernel::unsubscribe(DRIVER, 5);
}

/// Returns the message with which the fake kernel stops an app that has ended, or sleeps for ever.
fn last_words(ends: fn() -> std::convert::Infallible) -> String {
    let caught = catch_unwind(ends).unwrap_err();
    match caught.downcast::<String>() {
        Ok(text) => *text,
        Err(other) => (*other.downcast::<&str>().unwrap()).to_owned(),
    }
}

#[cfg(not(feature = "abi-v1"))]
#[test]
fn exits_have_their_type_and_code() {
    let ended = last_words(|| Kernel::exit_terminate(3));
    assert_eq!(ended, "the app ends: kind 0, code 3");
    let ended = last_words(|| Kernel::exit_restart(4));
    assert_eq!(ended, "the app ends: kind 1, code 4");
}

#[cfg(feature = "abi-v1")]
#[test]
fn without_an_exit_the_app_waits_for_ever() {
    let ended = last_words(|| Kernel::exit_terminate(3));
    assert_eq!(ended, "the app sleeps for ever");
    let ended = last_words(|| Kernel::exit_restart(4));
    assert_eq!(ended, "the app sleeps for ever");
}
