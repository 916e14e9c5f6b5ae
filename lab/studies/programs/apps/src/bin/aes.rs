// SPDX-License-Identifier: Apache-2.0 OR MIT

//! AES by the crate aes. The known answers are from NIST SP 800-38A, F.1.1 and F.1.5: four blocks in
//! ECB, here 16 times.

#![no_std]
#![no_main]

use aes::cipher::{BlockEncrypt, KeyInit};
use aes::{Aes128, Aes256, Block};
use programs::{Program, rows};

const KEY_128: [u8; 16] = 0x2b7e1516_28aed2a6_abf71588_09cf4f3c_u128.to_be_bytes();
const KEY_256: [u128; 2] = [
    0x603deb10_15ca71be_2b73aef0_857d7781,
    0x1f352c07_3b6108d7_2d9810a3_0914dff4,
];
const PLAIN: [u128; 4] = [
    0x6bc1bee2_2e409f96_e93d7e11_7393172a,
    0xae2d8a57_1e03ac9c_9eb76fac_45af8e51,
    0x30c81c46_a35ce411_e5fbc119_1a0a52ef,
    0xf69f2445_df4f9b17_ad2b417b_e66c3710,
];
const BY_128: [u128; 4] = [
    0x3ad77bb4_0d7a3660_a89ecaf3_2466ef97,
    0xf5d3d585_03b9699d_e785895a_96fdbaaf,
    0x43b1cd7f_598ece23_881b00e3_ed030688,
    0x7b0c785e_27e8ad3f_82232071_04725dd4,
];
const BY_256: [u128; 4] = [
    0xf3eed1bd_b5d2a03c_064b5a7e_3db181f8,
    0x591ccb10_d410ed26_dc5ba74a_31362870,
    0xb6ed21b9_9ca6f4f9_f153e7b1_beafed1d,
    0x23304b7a_39f9f3ff_067d8d8f_9e24ecc7,
];

struct Aes {
    bits: u32,
    blocks: [Block; rows::aes_encrypt::INNER as usize],
}

impl Program for Aes {
    fn new(bits: u32) -> Self {
        Self {
            bits,
            blocks: [Block::default(); rows::aes_encrypt::INNER as usize],
        }
    }

    fn prepare(&mut self) {
        for (block, plain) in self.blocks.iter_mut().zip(PLAIN.iter().cycle()) {
            *block = plain.to_be_bytes().into();
        }
    }

    fn work(&mut self) {
        if self.bits == 128 {
            Aes128::new(&KEY_128.into()).encrypt_blocks(&mut self.blocks);
        } else {
            let mut key = [0; 32];
            key[..16].copy_from_slice(&KEY_256[0].to_be_bytes());
            key[16..].copy_from_slice(&KEY_256[1].to_be_bytes());
            Aes256::new(&key.into()).encrypt_blocks(&mut self.blocks);
        }
    }

    fn is_right(&self) -> bool {
        let known = if self.bits == 128 { BY_128 } else { BY_256 };
        let mut both = self.blocks.iter().zip(known.iter().cycle());
        both.all(|(block, known)| block[..] == known.to_be_bytes())
    }
}

programs::program!(c"aes", aes_encrypt, benches_aes, 4096, Aes);
