// SPDX-License-Identifier: Apache-2.0 OR MIT

//! ChaCha20-Poly1305 by the crate chacha20poly1305: key, nonce, message and tag of RFC 8439, 2.8.2.

#![no_std]
#![no_main]

use chacha20poly1305::{AeadInPlace, ChaCha20Poly1305, KeyInit, Tag};
use programs::{Program, rows};

const MESSAGE: &[u8; 114] =
    b"Ladies and Gentlemen of the class of '99: If I could offer you only one \
tip for the future, sunscreen would be it.";
const NONCE: [u8; 12] = [7, 0, 0, 0, 0x40, 0x41, 0x42, 0x43, 0x44, 0x45, 0x46, 0x47];
const DATA: [u8; 12] = [
    0x50, 0x51, 0x52, 0x53, 0xc0, 0xc1, 0xc2, 0xc3, 0xc4, 0xc5, 0xc6, 0xc7,
];
/// The tag covers the whole ciphertext; the RFC's first and last bytes of it are also checked.
const TAG: u128 = 0x1ae10b59_4f09e26a_7e902ecb_d0600691;
const BEGINS: [u8; 8] = [0xd3, 0x1a, 0x8d, 0x34, 0x64, 0x8e, 0x60, 0xdb];
const ENDS: [u8; 2] = [0x61, 0x16];
const MESSAGES: usize = rows::chacha_seal::INNER as usize;

struct ChaCha {
    text: [[u8; MESSAGE.len()]; MESSAGES],
    tags: [Tag; MESSAGES],
}

impl Program for ChaCha {
    fn new(_: u32) -> Self {
        Self {
            text: [[0; MESSAGE.len()]; MESSAGES],
            tags: [Tag::default(); MESSAGES],
        }
    }

    fn prepare(&mut self) {
        self.text = [*MESSAGE; MESSAGES];
        self.tags = [Tag::default(); MESSAGES];
    }

    fn work(&mut self) {
        let mut key = [0; 32];
        for (byte, value) in key.iter_mut().zip(0x80..) {
            *byte = value;
        }
        let cipher = ChaCha20Poly1305::new(&key.into());
        for (text, tag) in self.text.iter_mut().zip(&mut self.tags) {
            if let Ok(made) = cipher.encrypt_in_place_detached(&NONCE.into(), &DATA, text) {
                *tag = made;
            }
        }
    }

    fn is_right(&self) -> bool {
        let text = |text: &[u8]| text.starts_with(&BEGINS) && text.ends_with(&ENDS);
        self.text.iter().all(|one| text(one))
            && self.tags.iter().all(|tag| tag[..] == TAG.to_be_bytes())
    }
}

programs::program!(c"chacha", chacha_seal, benches_chacha, 4096, ChaCha);
