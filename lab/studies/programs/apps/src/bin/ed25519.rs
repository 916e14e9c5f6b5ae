// SPDX-License-Identifier: Apache-2.0 OR MIT

//! An Ed25519 signature by the crate ed25519-compact, in its small form. The known answer is test 2 of
//! RFC 8032, 7.1.

#![no_std]
#![no_main]

use ed25519_compact::{KeyPair, Seed};
use programs::Program;

const SEED: [u128; 2] = [
    0x4ccd089b_28ff96da_9db6c346_ec114e0f,
    0x5b8a319f_35aba624_da8cf6ed_4fb8a6fb,
];
const MESSAGE: [u8; 1] = [0x72];
const KNOWN: [u128; 4] = [
    0x92a009a9_f0d4cab8_720e820b_5f642540,
    0xa2b27b54_16503f8f_b3762223_ebdb69da,
    0x085ac1e4_3e15996e_458f3613_d0f11d8c,
    0x387b2eae_b4302aee_b00d2916_12bb0c00,
];

struct Ed25519 {
    pair: KeyPair,
    signature: [u8; 64],
}

impl Program for Ed25519 {
    fn new(_: u32) -> Self {
        let mut seed = [0; 32];
        for (bytes, word) in seed.chunks_mut(16).zip(SEED) {
            bytes.copy_from_slice(&word.to_be_bytes());
        }
        Self {
            pair: KeyPair::from_seed(Seed::new(seed)),
            signature: [0; 64],
        }
    }

    fn prepare(&mut self) {
        self.signature = [0; 64];
    }

    fn work(&mut self) {
        self.signature = *self.pair.sk.sign(MESSAGE, None);
    }

    fn is_right(&self) -> bool {
        let mut both = self.signature.chunks(16).zip(KNOWN);
        both.all(|(bytes, known)| *bytes == known.to_be_bytes())
    }
}

programs::program!(c"ed25519", ed25519_sign, benches_ed25519, 16384, Ed25519);
