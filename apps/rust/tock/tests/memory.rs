// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Heap: areas, their borrowers, and the break.

use std::sync::{Mutex, MutexGuard};

use tock::fake::{self, Call, MEMORY};
use tock::memory::{ALIGNMENT, Area, Break};
use tock::{ErrorCode, Kernel, Syscalls, abi};

/// The whole program has one break, like an app: only one test at a time moves it.
fn alone() -> MutexGuard<'static, ()> {
    static ONE: Mutex<()> = Mutex::new(());
    ONE.lock().unwrap_or_else(|failed| failed.into_inner())
}

#[test]
fn an_area_is_aligned_and_keeps_its_contents() {
    let _alone = alone();
    static FROM: [Area; 8] = [const { Area::new() }; 8];
    for from in &FROM {
        Kernel::memop_increment_brk(12).unwrap(); // each area starts at another break
        from.reserve(100).unwrap();
        let mut lent = from.lend(100).unwrap();
        assert_eq!(lent.as_ptr().addr() % ALIGNMENT, 0);
        assert_eq!(lent.len(), 100);
        for (index, word) in lent.iter_mut().enumerate() {
            *word = index as u32;
        }
        drop(lent);
        let again = from.lend(50).unwrap();
        assert!(again.iter().copied().eq(0..50));
    }
}

#[test]
fn an_area_has_one_borrower_at_a_time() {
    let _alone = alone();
    static FROM: Area = Area::new();
    assert!(FROM.lend(1).is_none(), "it has nothing yet");
    FROM.reserve(8).unwrap();
    let lent = FROM.lend(4).unwrap();
    assert!(FROM.lend(4).is_none());
    assert_eq!(FROM.reserve(8), Err(ErrorCode::Busy));
    drop(lent);
    assert!(FROM.lend(9).is_none());
    assert!(FROM.lend(0).is_none());
    assert!(FROM.lend(8).is_some());
}

/// A parameter returns its words within the function, and another borrower takes them.
#[test]
fn returned_words_can_be_lent_at_once() {
    let _alone = alone();
    static FROM: Area = Area::new();
    fn swap(mut lent: tock::memory::Lent<'static>) -> u32 {
        lent[0] = 1;
        drop(lent);
        let mut next = FROM.lend(1).unwrap();
        next[0] += 1;
        next[0]
    }
    FROM.reserve(1).unwrap();
    assert_eq!(swap(FROM.lend(1).unwrap()), 2);
}

#[test]
fn an_area_reserves_once() {
    let _alone = alone();
    static FROM: Area = Area::new();
    FROM.reserve(8).unwrap();
    fake::calls();
    assert_eq!(FROM.reserve(4), Ok(()));
    assert_eq!(FROM.reserve(8), Ok(()));
    assert_eq!(FROM.reserve(9), Err(ErrorCode::Already));
    assert_eq!(fake::calls(), []);
}

#[test]
fn an_area_without_memory_stays_empty() {
    let _alone = alone();
    static FROM: Area = Area::new();
    for words in [MEMORY / 4 + 1, usize::MAX, usize::MAX / 4, 1 << 30] {
        let refused = FROM.reserve(words).unwrap_err();
        assert!(matches!(refused, ErrorCode::NoMem | ErrorCode::Invalid));
        assert!(FROM.lend(1).is_none());
    }
    fake::refuse(abi::TOCK_MEMOP, ErrorCode::Fail);
    assert_eq!(FROM.reserve(8), Err(ErrorCode::Fail));
    assert_eq!(
        FROM.reserve(8),
        Ok(()),
        "the right to the break was given back"
    );
}

#[test]
fn the_break_goes_up_and_down_and_back() {
    let _alone = alone();
    let mut end = Break::take().unwrap();
    let base = end.base();
    assert_eq!(end.sbrk(8), Ok(base));
    assert_eq!(end.sbrk(0), Ok(base + 8));
    assert_eq!(end.brk(base + 4), Ok(()));
    assert_eq!(end.sbrk(0), Ok(base + 4));
    assert_eq!(end.brk(base - 1), Err(ErrorCode::Invalid));
    assert_eq!(end.sbrk(1 << 31), Err(ErrorCode::Invalid));
    assert_eq!(end.sbrk(MEMORY as u32), Err(ErrorCode::NoMem));
    fake::calls();
    drop(end);
    assert_eq!(fake::calls(), [Call::Memop(abi::TOCK_MEMOP_BRK)]);
    assert_eq!(Break::take().unwrap().base(), base);
}

#[test]
fn only_the_owner_moves_the_break() {
    let _alone = alone();
    static FROM: Area = Area::new();
    let end = Break::take().unwrap();
    assert_eq!(Break::take().unwrap_err(), ErrorCode::Busy);
    assert_eq!(FROM.reserve(8), Err(ErrorCode::Busy));
    drop(end);
    assert_eq!(FROM.reserve(8), Ok(()));
    let end = Break::take().unwrap();
    drop(end);
    FROM.lend(8).unwrap().fill(1); // the break never went below its memory
    fake::refuse(abi::TOCK_MEMOP, ErrorCode::Fail);
    assert_eq!(Break::take().unwrap_err(), ErrorCode::Fail);
    assert!(Break::take().is_ok());
}

#[test]
fn the_start_of_flash_is_returned() {
    assert_eq!(Kernel::memop_flash_start(), Ok(0x2003_0000));
    fake::refuse(abi::TOCK_MEMOP, ErrorCode::NoSupport);
    assert_eq!(Kernel::memop_flash_start(), Err(ErrorCode::NoSupport));
}
