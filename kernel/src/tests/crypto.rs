// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The crypto driver, on a fake machine whose crypto inverts a job's text.

use super::*;
use crate::drivers::crypto::{HEAD, NUMBER};
use proptest::prelude::*;

const START: u32 = 1;
const DO: u32 = 2;
const HEAD_BYTES: u32 = 4 * HEAD as u32;
/// Offset of the job in the process's RAM. The rest of the RAM is `FILLED`.
const AT: u32 = 256;
const FILLED: u8 = 0x5a;

/// Fills the current process's RAM, and puts the head of a job at `AT + shift`.
fn put(kernel: &mut Kernel, shift: u32, task: u32, length: u32) {
    let start = ram_of(kernel.current as u32);
    kernel.memory_operation(0, start + RAM_EACH);
    host::with(|machine| {
        let own = &mut machine.ram[(start - RAM) as usize..][..RAM_EACH as usize];
        own.fill(FILLED);
        let at = (AT + shift) as usize;
        own[at..at + 4].copy_from_slice(&task.to_le_bytes());
        own[at + 4..at + 8].copy_from_slice(&length.to_le_bytes());
    });
}

fn give(kernel: &mut Kernel, shift: u32, length: u32) -> Return {
    let at = ram_of(kernel.current as u32) + AT + shift;
    kernel.call(class::READ_WRITE_ALLOW, [NUMBER, 0, at, length])
}

/// How many bytes of the process's RAM from `AT` on are inverted. None if other bytes changed, apart from
/// a head.
fn inverted(kernel: &Kernel) -> Option<u32> {
    let start = (ram_of(kernel.current as u32) - RAM) as usize;
    host::with(|machine| {
        let own = &machine.ram[start..][..RAM_EACH as usize];
        let text = (AT + HEAD_BYTES) as usize;
        let count = own[text..]
            .iter()
            .take_while(|byte| **byte == !FILLED)
            .count();
        let rest = own[..AT as usize].iter().chain(&own[text + count..]);
        rest.into_iter()
            .all(|byte| *byte == FILLED)
            .then_some(count as u32)
    })
}

#[test]
fn a_job_is_done_in_its_buffer() {
    let mut kernel = boot(apps(&["one"]));
    assert_eq!(kernel.command_to(NUMBER, 0, 0, 0), Return::Success);
    assert_eq!(
        kernel.command_to(NUMBER, 3, 0, 0),
        failure(ErrorCode::NoSupport)
    );
    put(&mut kernel, 0, 1, 100);
    give(&mut kernel, 0, HEAD_BYTES + 100);
    assert_eq!(
        kernel.command_to(NUMBER, DO, 0, 0),
        Return::U32(HEAD_BYTES + 100)
    );
    assert_eq!(inverted(&kernel), Some(100));
    assert_eq!(kernel.command_to(NUMBER, START, 0, 0), Return::Success);
    kernel.ecall(class::YIELD, [2, NUMBER, 0, 0]);
    assert_eq!(kernel.registers().2[..2], [0, HEAD_BYTES + 100]);
    assert_eq!(inverted(&kernel), Some(0), "and back");
}

#[test]
fn a_buffer_taken_back_is_not_touched() {
    let mut kernel = boot(apps(&["one"]));
    put(&mut kernel, 0, 1, 16);
    give(&mut kernel, 0, HEAD_BYTES + 16);
    kernel.call(class::READ_WRITE_ALLOW, [NUMBER, 0, 0, 0]);
    assert_eq!(
        kernel.command_to(NUMBER, DO, 0, 0),
        failure(ErrorCode::Size)
    );
    assert_eq!(inverted(&kernel), Some(0));
}

/// A shorter job does not get data from another process's longer job.
#[test]
fn no_data_of_another_job_is_returned() {
    let mut kernel = boot(apps(&["one", "two"]));
    put(&mut kernel, 0, 1, 2000);
    give(&mut kernel, 0, HEAD_BYTES + 2000);
    kernel.command_to(NUMBER, DO, 0, 0);
    kernel.wait();
    assert_eq!(kernel.current, 1);
    put(&mut kernel, 0, 1, 5);
    give(&mut kernel, 0, HEAD_BYTES + 2000);
    assert_eq!(
        kernel.command_to(NUMBER, DO, 0, 0),
        Return::U32(HEAD_BYTES + 5)
    );
    assert!(
        inverted(&kernel).is_some_and(|count| (5..=8).contains(&count)),
        "to the word"
    );
    put(&mut kernel, 0, 0, 5);
    assert_eq!(kernel.command_to(NUMBER, DO, 0, 0), Return::U32(HEAD_BYTES));
    assert_eq!(inverted(&kernel), Some(0));
}

proptest! {
    /// For any job at any address: it is done completely, within the buffer, or it is refused and nothing
    /// is written.
    #[test]
    fn no_job_writes_outside_its_buffer(
        shift in 0..6u32,
        length in prop_oneof![0..2500u32, any::<u32>()],
        (around, off) in (any::<bool>(), 0..2500u32),
    ) {
        // Any size, or about the size that the job needs.
        let size = if around { HEAD_BYTES + length % 2500 + off % 9 - 4 } else { off };
        let mut kernel = boot(apps(&["one"]));
        put(&mut kernel, shift, 1, length);
        give(&mut kernel, shift, size);
        let result = kernel.command_to(NUMBER, DO, 0, 0);
        if !shift.is_multiple_of(4) {
            prop_assert_eq!(result, failure(ErrorCode::Invalid));
        } else if u64::from(HEAD_BYTES) + u64::from(length) > u64::from(size) {
            prop_assert_eq!(result, failure(ErrorCode::Size));
        } else {
            prop_assert_eq!(result, Return::U32(HEAD_BYTES + length));
            let last = (ram_of(0) - RAM + AT + shift + size) as usize;
            host::with(|machine| assert!(machine.ram[last..RAM_EACH as usize].iter().all(|byte| *byte == FILLED)));
        }
        if result.registers()[0] == 0 {
            let at = (ram_of(0) - RAM + AT + shift) as usize;
            host::with(|machine| {
                let own = &machine.ram[..RAM_EACH as usize];
                assert!(own[..at].iter().chain(&own[at + 8..]).all(|byte| *byte == FILLED));
            });
        }
    }
}
