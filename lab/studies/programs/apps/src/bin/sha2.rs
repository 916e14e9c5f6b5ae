// SPDX-License-Identifier: Apache-2.0 OR MIT

//! SHA-2 by the crate sha2, of the bytes 0 to 255, repeated. Python's hashlib gave the known answers.

#![no_std]
#![no_main]

use programs::{Program, rows};
use sha2::{Digest, Sha256, Sha512};

const BY_256: [u8; 32] = [
    0xc8, 0xf5, 0xd0, 0x34, 0x1d, 0x54, 0xd9, 0x51, 0xa7, 0x1b, 0x13, 0x6e, 0x6e, 0x2a, 0xfc, 0xb1,
    0x4d, 0x11, 0xed, 0x84, 0x89, 0xa7, 0xae, 0x12, 0x6a, 0x8f, 0xee, 0x0d, 0xf6, 0xec, 0xf1, 0x93,
];
const BY_512: [u8; 64] = [
    0x03, 0x4a, 0x1b, 0xd3, 0xad, 0x5d, 0xbd, 0xdf, 0x6c, 0x9a, 0xed, 0x6b, 0x17, 0x05, 0x66, 0x14,
    0x87, 0xe1, 0x10, 0xdc, 0x7e, 0x15, 0x8f, 0xe3, 0x30, 0xc9, 0x43, 0x63, 0xe8, 0xff, 0xb5, 0x3b,
    0x1c, 0x92, 0xf8, 0x83, 0x01, 0x0f, 0xd7, 0x3c, 0xe8, 0xa8, 0x61, 0x15, 0xb7, 0xb4, 0x71, 0x2b,
    0xa0, 0xf3, 0xa9, 0x27, 0x97, 0x60, 0xed, 0x62, 0x20, 0xa5, 0x77, 0x3e, 0xb5, 0x44, 0x25, 0xf0,
];

struct Sha2 {
    bits: u32,
    message: [u8; rows::sha2_hash::INNER as usize],
    digest: [u8; 64],
}

impl Program for Sha2 {
    fn new(bits: u32) -> Self {
        let mut message = [0; rows::sha2_hash::INNER as usize];
        for (i, byte) in message.iter_mut().enumerate() {
            *byte = i as u8;
        }
        let digest = [0; 64];
        Self {
            bits,
            message,
            digest,
        }
    }

    fn prepare(&mut self) {
        self.digest = [0; 64];
    }

    // By reference, so that the message is not copied onto the stack.
    #[expect(clippy::needless_borrows_for_generic_args)]
    fn work(&mut self) {
        if self.bits == 256 {
            self.digest[..32].copy_from_slice(&Sha256::digest(&self.message));
        } else {
            self.digest.copy_from_slice(&Sha512::digest(&self.message));
        }
    }

    fn is_right(&self) -> bool {
        let known: &[u8] = if self.bits == 256 { &BY_256 } else { &BY_512 };
        self.digest.starts_with(known)
    }
}

programs::program!(c"sha2", sha2_hash, benches_sha2, 16384, Sha2);
