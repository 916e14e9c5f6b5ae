// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The fake kernel's side of the system calls.

use std::vec::Vec;

use super::{Answer, Call, GIVEN, Id, MEMORY, drivers, with};
use crate::abi;
use crate::error::ErrorCode;
use crate::raw::{RawSyscalls, Register, Returned, UpcallFunction};

/// The kernel that the test runs on.
pub struct Kernel;

fn command(driver: u32, number: u32, first: u32, second: u32) -> Answer {
    let call = Call::Command(driver, number, first, second);
    let own = with(|state| {
        state.calls.push(call);
        state.drivers.get(&driver).cloned()
    });
    match (own, driver) {
        (Some(own), _) => own(number, first, second),
        (None, abi::TOCK_CONSOLE) => drivers::console(number, first, second),
        (None, abi::TOCK_ALARM) => drivers::alarm(number, first, second),
        (None, abi::TM_PERF) => drivers::perf(number, first, second),
        (None, _) => Answer::Fails(ErrorCode::NoDevice),
    }
}

/// Runs the first pending upcall that is subscribed. Returns false if there is none.
fn run_upcall() -> bool {
    while let Some((id, [first, second, third])) = with(|state| state.pending.pop_front()) {
        if let Some((function, data)) = with(|state| state.upcalls.get(&id).copied()) {
            // SAFETY: a subscribed function can be called with its data: `Syscalls` has to ensure that, and
            // Miri checks it.
            unsafe { function(first, second, third, data) };
            return true;
        }
    }
    false
}

fn yield_wait() {
    with(|state| state.calls.push(Call::YieldWait));
    assert!(run_upcall(), "the app sleeps for ever");
}

fn subscribe(id: Id, function: Register, data: Register) {
    let (driver, number) = id;
    with(|state| {
        if function == Register::NULL {
            state.calls.push(Call::Unsubscribe(driver, number));
            state.upcalls.remove(&id);
            state.pending.retain(|(of, _)| *of != id);
        } else {
            // SAFETY: the subscribed address is a function, or null.
            let function =
                unsafe { core::mem::transmute::<*mut (), UpcallFunction>(function.as_ptr()) };
            state.calls.push(Call::Subscribe(driver, number));
            state.upcalls.insert(id, (function, data));
        }
    });
}

fn allow(read_only: bool, id: Id, start: Register, length: usize) {
    let (driver, number) = id;
    with(|state| {
        let (buffers, allowed, unallowed) = if read_only {
            let allowed = Call::AllowRo(driver, number, length);
            (
                &mut state.read_only,
                allowed,
                Call::UnallowRo(driver, number),
            )
        } else {
            let allowed = Call::AllowRw(driver, number, length);
            (
                &mut state.read_write,
                allowed,
                Call::UnallowRw(driver, number),
            )
        };
        if start == Register::NULL {
            buffers.remove(&id);
            state.calls.push(unallowed);
        } else {
            buffers.insert(id, (start, length));
            state.calls.push(allowed);
        }
    });
}

/// Moves the break. Returns its previous address, for `brk` nothing.
fn memop(operation: u32, argument: Register) -> Result<Register, ErrorCode> {
    with(|state| {
        state.calls.push(Call::Memop(operation));
        let memory = *state.memory.get_or_insert_with(|| {
            let words = (0..MEMORY / 8).map(|_| Default::default()).collect();
            let words: &'static [_] = Vec::leak(words);
            let start = Register::from(words.as_ptr());
            GIVEN.lock().expect("nobody panics with it").push(words);
            start
        });
        let start = memory.as_ptr::<u8>();
        let end = match operation {
            abi::TOCK_MEMOP_BRK => argument.as_usize().wrapping_sub(start.addr()),
            abi::TOCK_MEMOP_SBRK => state
                .end
                .wrapping_add_signed(argument.as_u32() as i32 as isize),
            abi::TOCK_MEMOP_FLASH_START => return Ok(0x2003_0000u32.into()),
            _ => return Err(ErrorCode::NoSupport),
        };
        if end > MEMORY {
            return Err(ErrorCode::NoMem);
        }
        let was = core::mem::replace(&mut state.end, end);
        Ok(start.wrapping_add(was).into())
    })
}

impl Answer {
    #[cfg(not(feature = "abi-v1"))]
    fn returned(self) -> Returned {
        let words = match self {
            Answer::Fails(error) => [abi::TOCK_FAILURE, error as u32, 0, 0],
            Answer::Done => [abi::TOCK_SUCCESS, 0, 0, 0],
            Answer::Word(word) => [abi::TOCK_SUCCESS_U32, word, 0, 0],
            Answer::Words(first, second) => [abi::TOCK_SUCCESS_U32_U32, first, second, 0],
            Answer::Raw(words) => words,
        };
        words.map(Register::from)
    }

    #[cfg(feature = "abi-v1")]
    fn returned(self) -> Returned {
        let word = match self {
            Answer::Fails(error) => (error as u32).wrapping_neg(),
            Answer::Done => 0,
            Answer::Word(word) | Answer::Raw([word, ..]) => word,
            Answer::Words(..) => (ErrorCode::NoSupport as u32).wrapping_neg(),
        };
        [signed(word)]
    }
}

/// Extends a word with its sign: the register is wider here than on the chip.
#[cfg(feature = "abi-v1")]
fn signed(word: u32) -> Register {
    (word.cast_signed() as isize).cast_unsigned().into()
}

/// The result of a subscribe or an allow: in version 2 the pair that it replaces or was passed.
fn exchanged(refusal: Option<ErrorCode>) -> Returned {
    #[cfg(not(feature = "abi-v1"))]
    let answer = match refusal {
        None => Answer::Words(0, 0),
        Some(error) => Answer::Raw([abi::TOCK_FAILURE_U32_U32, error as u32, 0, 0]),
    };
    #[cfg(feature = "abi-v1")]
    let answer = refusal.map_or(Answer::Done, Answer::Fails);
    answer.returned()
}

/// The result of a memop; an address keeps its provenance.
fn memop_returned(operation: u32, value: Result<Register, ErrorCode>) -> Returned {
    match value {
        Err(error) => Answer::Fails(error).returned(),
        Ok(_) if operation == abi::TOCK_MEMOP_BRK => Answer::Done.returned(),
        #[cfg(not(feature = "abi-v1"))]
        Ok(value) => [
            abi::TOCK_SUCCESS_U32.into(),
            value,
            Register::NULL,
            Register::NULL,
        ],
        #[cfg(feature = "abi-v1")]
        Ok(value) => [value],
    }
}

/// Carries out a system call that is not a yield.
fn system_call(class: u32, [a, b, c, d]: [Register; 4]) -> Returned {
    #[cfg(feature = "abi-v1")]
    use abi::TOCK_ALLOW as ALLOW_RW;
    #[cfg(not(feature = "abi-v1"))]
    use abi::{TOCK_ALLOW_RO as ALLOW_RO, TOCK_ALLOW_RW as ALLOW_RW, TOCK_EXIT as EXIT};

    let refusal = with(|state| state.refusal.take_if(|(refused, _)| *refused == class));
    let refusal = refusal.map(|(_, error)| error);
    let id = (a.as_u32(), b.as_u32());
    match class {
        abi::TOCK_COMMAND => command(id.0, id.1, c.as_u32(), d.as_u32()).returned(),
        abi::TOCK_MEMOP => {
            let value = refusal.map_or_else(|| memop(a.as_u32(), b), Err);
            memop_returned(a.as_u32(), value)
        }
        _ if refusal.is_some() => exchanged(refusal),
        abi::TOCK_SUBSCRIBE => {
            subscribe(id, c, d);
            exchanged(None)
        }
        // The test's driver finds the name's process, by command 1 in both versions.
        #[cfg(feature = "abi-v1")]
        ALLOW_RW if id == (abi::TOCK_IPC, abi::TOCK_IPC_NAME) => {
            allow(false, id, c, d.as_usize());
            let answer = command(abi::TOCK_IPC, 1, 0, 0);
            with(|state| state.read_write.remove(&id));
            answer.returned()
        }
        ALLOW_RW => {
            allow(false, id, c, d.as_usize());
            exchanged(None)
        }
        #[cfg(not(feature = "abi-v1"))]
        ALLOW_RO => {
            allow(true, id, c, d.as_usize());
            exchanged(None)
        }
        #[cfg(not(feature = "abi-v1"))]
        EXIT => panic!("the app ends: kind {}, code {}", id.0, id.1),
        _ => panic!("there is no class {class}"),
    }
}

// SAFETY: memory is accessed only by `read`, `write` and `memop_returned`, which use allowed memory and the
// fake's own; functions are called only by `run_upcall`, in a yield, while they are subscribed.
unsafe impl RawSyscalls for Kernel {
    #[cfg(feature = "abi-v1")]
    unsafe fn yield0() {
        yield_wait();
    }

    #[cfg(not(feature = "abi-v1"))]
    unsafe fn yield1([kind]: [Register; 1]) {
        assert_eq!(kind.as_u32(), abi::TOCK_YIELD_WAIT);
        yield_wait();
    }

    #[cfg(not(feature = "abi-v1"))]
    unsafe fn yield2([kind, ran]: [Register; 2]) {
        assert_eq!(kind.as_u32(), abi::TOCK_YIELD_NO_WAIT);
        with(|state| state.calls.push(Call::YieldNoWait));
        let any = run_upcall();
        // SAFETY: as the caller guarantees: this byte may be written.
        unsafe { ran.as_ptr::<u8>().write(any.into()) };
    }

    #[cfg(not(feature = "abi-v1"))]
    unsafe fn yield3([kind, driver, number]: [Register; 3]) -> [Register; 3] {
        assert_eq!(kind.as_u32(), abi::TOCK_YIELD_WAIT_FOR);
        let id = (driver.as_u32(), number.as_u32());
        with(|state| {
            state.calls.push(Call::YieldWaitFor(id.0, id.1));
            let due = state.pending.iter().position(|(of, _)| *of == id);
            let due = due.and_then(|index| state.pending.remove(index));
            due.expect("the app sleeps for ever").1
        })
    }

    unsafe fn syscall1<const CLASS: u32>([a]: [Register; 1]) -> Returned {
        system_call(CLASS, [a, Register::NULL, Register::NULL, Register::NULL])
    }

    unsafe fn syscall2<const CLASS: u32>([a, b]: [Register; 2]) -> Returned {
        system_call(CLASS, [a, b, Register::NULL, Register::NULL])
    }

    unsafe fn syscall4<const CLASS: u32>(arguments: [Register; 4]) -> Returned {
        system_call(CLASS, arguments)
    }
}
