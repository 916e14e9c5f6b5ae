// SPDX-License-Identifier: Apache-2.0 OR MIT

//! ECDSA on P-256 with SHA-256 by the crate p256. The known answer is from RFC 6979, A.2.5, for the
//! message "sample".

#![no_std]
#![no_main]

use p256::ecdsa::signature::Signer;
use p256::ecdsa::{Signature, SigningKey};
use programs::Program;

const KEY: [u128; 2] = [
    0xc9afa9d8_45ba7516_6b5c2157_67b1d693,
    0x4e50c3db_36e89b12_7b8a622b_120f6721,
];
const KNOWN: [u128; 4] = [
    0xefd48b2a_acb6a8fd_1140dd9c_d45e81d6,
    0x9d2c877b_56aaf991_c34d0ea8_4eaf3716,
    0xf7cb1c94_2d657c41_d436c7a1_b6e29f65,
    0xf3e900db_b9aff406_4dc4ab2f_843acda8,
];

struct P256([u8; 64]);

impl Program for P256 {
    fn new(_: u32) -> Self {
        Self([0; 64])
    }

    fn prepare(&mut self) {
        self.0 = [0; 64];
    }

    fn work(&mut self) {
        let mut secret = [0; 32];
        for (bytes, word) in secret.chunks_mut(16).zip(KEY) {
            bytes.copy_from_slice(&word.to_be_bytes());
        }
        if let Ok(key) = SigningKey::from_bytes(&secret.into()) {
            let signature: Signature = key.sign(b"sample");
            self.0.copy_from_slice(&signature.to_bytes());
        }
    }

    fn is_right(&self) -> bool {
        let mut both = self.0.chunks(16).zip(KNOWN);
        both.all(|(bytes, known)| *bytes == known.to_be_bytes())
    }
}

programs::program!(c"p256", p256_sign, benches_p256, 8192, P256);
