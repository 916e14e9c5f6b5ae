// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Apps that run next to others: they find each other by name; a service sleeps until it is notified, for
//! ever. apps/runtime/peer.h is the same in C.

use tock::{ErrorCode, Kernel, Syscalls, ipc};

/// By then all apps of the boot have started.
pub const START_MS: u32 = 5;

const LONGEST: usize = 16; // a name and a digit

/// The first word of the buffer that the app sharer shares.
pub const SHARER_WORD: u32 = 0x5a6b_7c8d;

/// Finds the number of the n-th process of this name, from 1 on: the tool names them x, x2, x3.
pub fn find(name: &str, n: u32) -> Result<u32, ErrorCode> {
    let mut text = [0; LONGEST];
    let length = name.len();
    text[..length].copy_from_slice(name.as_bytes());
    text[length] = b'0' + n as u8;
    let text = &text[..length + usize::from(n > 1)];
    str::from_utf8(text).map_or(Err(ErrorCode::Invalid), ipc::find)
}

/// Sleeps for ever; all further work happens in upcalls.
pub fn rest() -> ! {
    loop {
        Kernel::yield_wait();
    }
}

/// Serves as the n-th process of this name. Returns only an error, which main should end with.
pub fn serve<U: ipc::Notified>(name: &str, n: u32, upcall: &'static U) -> i32 {
    let served = find(name, n).and_then(|own| ipc::serve(own, upcall));
    match served {
        Ok(()) => rest(),
        Err(error) => error as i32,
    }
}
