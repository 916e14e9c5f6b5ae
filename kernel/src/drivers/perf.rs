// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Perf on this kernel: adapts the capsule, which has the command table, to the kernel's types.

use super::call::Call;
use crate::abi::{ErrorCode, Return};
use crate::arch::Hardware;
use crate::process::Processes;
use crate::slots::OwnUpcall;
use tockmark_perf::{Perf, Reply};

pub use crate::abi::PERF as NUMBER;

const UPCALL: OwnUpcall = OwnUpcall::new(NUMBER, 0);

pub fn command(call: Call, processes: &mut Processes) -> Return {
    match Perf::new(Hardware).command(call.number, call.arguments[0]) {
        Reply::Success => Return::Success,
        Reply::U32(value) => Return::U32(value),
        Reply::Pair(first, second) => Return::Pair(first, second),
        Reply::U64(value) => Return::U64(value),
        Reply::Upcall(first, second, third) => processes[call.process]
            .schedule(UPCALL, [first, second, third])
            .into(),
        Reply::NoSupport => Return::Failure(ErrorCode::NoSupport),
    }
}
