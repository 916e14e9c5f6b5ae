// SPDX-License-Identifier: Apache-2.0 OR MIT

//! ML-KEM-768 by the crate ml-kem: a key pair, encapsulation and decapsulation, with the bytes 0 to 95
//! instead of random ones. The known answer is the shared secret that PQClean, an independent
//! implementation, computes from the same bytes (`c/mlkem.c`).

#![no_std]
#![no_main]

use ml_kem::kem::Decapsulate;
use ml_kem::{B32, EncapsulateDeterministic, KemCore, MlKem768};
use programs::Program;

const KNOWN: [u8; 32] = [
    0x9c, 0xdd, 0xd0, 0x89, 0xff, 0xe7, 0x0e, 0x39, 0x96, 0xe7, 0x6f, 0x7c, 0x8d, 0x06, 0x74, 0x6d,
    0xf3, 0x4d, 0x07, 0xe8, 0x65, 0x7b, 0xc0, 0xfc, 0xf2, 0xbb, 0x0e, 0x1c, 0x30, 0x84, 0xae, 0xa1,
];

#[derive(Default)]
struct MlKem {
    sent: B32,
    received: B32,
}

/// Returns 32 of the bytes 0 to 95, from `from` on.
fn bytes(from: u8) -> B32 {
    B32::from_fn(|i| from + i as u8)
}

impl Program for MlKem {
    fn new(_: u32) -> Self {
        Self::default()
    }

    fn prepare(&mut self) {
        *self = Self::default();
    }

    fn work(&mut self) {
        let (secret, public) = MlKem768::generate_deterministic(&bytes(0), &bytes(32));
        if let Ok((ciphertext, sent)) = public.encapsulate_deterministic(&bytes(64)) {
            self.sent = sent;
            if let Ok(received) = secret.decapsulate(&ciphertext) {
                self.received = received;
            }
        }
    }

    fn is_right(&self) -> bool {
        self.sent[..] == KNOWN && self.received[..] == KNOWN
    }
}

programs::program!(c"mlkem", mlkem_exchange, benches_mlkem, 61440, MlKem);
