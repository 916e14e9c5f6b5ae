// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Crypto, driver 0x90020, in the kernel's variant `crypto`: does an application's job
//! (`lab/studies/programs/apps/crypto/job.h`) in the kernel.
//!
//! | command | arguments | reply | meaning |
//! |---|---|---|---|
//! | 0 | - | success | the driver exists |
//! | 1 | - | success | does the job in read-write buffer 0; upcall 0 follows: (0, bytes of the answer, 0) |
//! | 2 | - | u32 | does the job and returns the length of the answer in bytes |
//!
//! Both fail with INVAL if the buffer is not aligned to a word, and with SIZE if the job does not fit into
//! it. The kernel works on a copy, so an application cannot change a job after it was checked. The kernel
//! copies back only this job's answer, never data of another process.
//!
//! A job is one command: until it is done no other process runs, and interrupts are off.

use super::call::Call;
use crate::abi::{ErrorCode, Return};
use crate::arch::{Hardware, Machine};
use crate::process::Processes;
use crate::slots::{CRYPTO_BUFFER, OwnUpcall};
use crate::umem::UserBuffer;

pub use crate::slots::CRYPTO as NUMBER;

const DONE: OwnUpcall = OwnUpcall::new(NUMBER, 0);

/// Words of a job: before its text, and with the longest text.
pub const HEAD: usize = 22;
pub const WORDS: usize = HEAD + 1024;
/// The word of a job with the length of its text in bytes.
const LENGTH: usize = 1;

pub struct Crypto {
    job: [u32; WORDS],
}

impl Crypto {
    pub const fn new() -> Crypto {
        Crypto { job: [0; WORDS] }
    }

    pub fn command(&mut self, call: Call, processes: &mut Processes) -> Return {
        let process = &mut processes[call.process];
        let buffer = process.read_write[CRYPTO_BUFFER];
        let done = match call.number {
            0 => return Return::Success,
            1 | 2 => self.work(buffer),
            _ => Err(ErrorCode::NoSupport),
        };
        match done {
            Ok(bytes) if call.number == 1 => process.schedule(DONE, [0, bytes, 0]).into(),
            Ok(bytes) => Return::U32(bytes),
            Err(error) => Return::Failure(error),
        }
    }

    /// Does the job in a buffer, and returns the length of the answer in bytes.
    fn work(&mut self, buffer: UserBuffer) -> Result<u32, ErrorCode> {
        if !buffer.address().is_multiple_of(4) {
            return Err(ErrorCode::Invalid);
        }
        let room = buffer.length().checked_sub(4 * HEAD as u32);
        let room = room.ok_or(ErrorCode::Size)?;
        let (head, text) = self.job.split_at_mut(HEAD);
        buffer.read(0, head);
        let length = head[LENGTH];
        let words = length.div_ceil(4) as usize;
        let text = text.get_mut(..words).ok_or(ErrorCode::Size)?;
        if length > room {
            return Err(ErrorCode::Size);
        }
        buffer.read(HEAD, text);
        let bytes = Hardware::crypto(&mut self.job);
        let answer = bytes.div_ceil(4) as usize;
        // No more than was read: the rest may hold data of another process.
        buffer.write(&self.job[..answer.min(HEAD + words)]);
        Ok(bytes)
    }
}

impl Default for Crypto {
    fn default() -> Crypto {
        Crypto::new()
    }
}
