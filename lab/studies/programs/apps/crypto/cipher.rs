// SPDX-License-Identifier: Apache-2.0 OR MIT

//! ChaCha20-Poly1305 by the crate chacha20poly1305, as a procedure for C (`job.h`).

#![no_std]
#![no_main]

use chacha20poly1305::{AeadInPlace, ChaCha20Poly1305, KeyInit};

const TEXT_MOST: usize = 4096;
const WRONG: u32 = 1;

/// `struct job`.
#[repr(C)]
struct Job {
    task: u32,
    length: u32,
    status: u32,
    key: [u8; 32],
    nonce: [u8; 12],
    answer: [u8; 32],
    text: [u8; TEXT_MOST],
}

/// Encrypts the text in place; the tag is the answer's first half. Returns the status.
fn seal(job: &mut Job) -> u32 {
    let cipher = ChaCha20Poly1305::new(&job.key.into());
    let Some(text) = job.text.get_mut(..job.length as usize) else {
        return WRONG;
    };
    match cipher.encrypt_in_place_detached(&job.nonce.into(), &[], text) {
        Ok(tag) => {
            job.answer[..16].copy_from_slice(&tag);
            0
        }
        Err(_) => WRONG,
    }
}

tock::export_procedure!(tm_cipher_seal, Job, seal);

/// Never called: a text of at most 4096 bytes is much shorter than the crate's keystream.
#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    loop {}
}
