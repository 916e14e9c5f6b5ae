// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The app length: AES-128, SHA-256 and inflate of several sizes, by the crates of the programs aes, sha2
//! and inflate. The known answers: FIPS 197, C.1, for each block; the first eight bytes of Python's
//! hashlib; Python's CRC-32 of the first bytes of the text of `inflate`.

#![no_std]
#![no_main]

use aes::cipher::{BlockEncrypt, KeyInit};
use aes::{Aes128, Block};
use miniz_oxide::inflate::TINFLStatus;
use miniz_oxide::inflate::core::inflate_flags::{
    TINFL_FLAG_PARSE_ZLIB_HEADER, TINFL_FLAG_USING_NON_WRAPPING_OUTPUT_BUF,
};
use miniz_oxide::inflate::core::{DecompressorOxide, decompress};
use programs::{Program, rows};
use sha2::{Digest, Sha256};
use tock::runtime::{Outcome, Run, Stage, program};

const MOST: usize = rows::length_aes::size::MAX as usize;
const KEY: [u8; 16] = 0x00010203_04050607_08090a0b_0c0d0e0f_u128.to_be_bytes();
const PLAIN: u128 = 0x00112233_44556677_8899aabb_ccddeeff;
const ENCRYPTED: u128 = 0x69c4e0d8_6a7b0430_d8cdb780_70b4c55a;
const DIGESTS: [(usize, u64); 5] = [
    (256, 0x40aff2e9_d2d8922e),
    (512, 0x110009dc_ee21620b),
    (1024, 0x785b0751_fc2c53dc),
    (2048, 0x10fc3c51_a152e90e),
    (4096, 0xc8f5d034_1d54d951),
];
const DEFLATED: &[u8] = include_bytes!("../text.z");
const TEXTS: [(usize, u32); 5] = [
    (256, 0x98fac95d),
    (512, 0x355fb033),
    (1024, 0x5fcb8731),
    (2048, 0xabf842af),
    (4096, 0x719e3c7e),
];

struct Aes([Block; MOST / 16], usize);

impl Program for Aes {
    fn new(size: u32) -> Self {
        Self([Block::default(); MOST / 16], size as usize / 16)
    }

    fn prepare(&mut self) {
        self.0.fill(PLAIN.to_be_bytes().into());
    }

    fn work(&mut self) {
        Aes128::new(&KEY.into()).encrypt_blocks(&mut self.0[..self.1]);
    }

    fn is_right(&self) -> bool {
        let (done, rest) = self.0.split_at(self.1);
        let all = |some: &[Block], are: u128| some.iter().all(|one| one[..] == are.to_be_bytes());
        all(done, ENCRYPTED) && all(rest, PLAIN)
    }
}

struct Sha256Of([u8; MOST], usize, [u8; 32]);

impl Program for Sha256Of {
    fn new(size: u32) -> Self {
        Self(core::array::from_fn(|i| i as u8), size as usize, [0; 32])
    }

    fn prepare(&mut self) {
        self.2 = [0; 32];
    }

    fn work(&mut self) {
        self.2 = Sha256::digest(&self.0[..self.1]).into();
    }

    fn is_right(&self) -> bool {
        let is = |known: u64| self.2.starts_with(&known.to_be_bytes());
        DIGESTS.iter().any(|one| one.0 == self.1 && is(one.1))
    }
}

struct Inflate {
    decompressor: DecompressorOxide,
    text: [u8; MOST],
    size: usize,
    status: TINFLStatus,
}

impl Program for Inflate {
    fn new(size: u32) -> Self {
        Self {
            decompressor: DecompressorOxide::new(),
            text: [0; MOST],
            size: size as usize,
            status: TINFLStatus::Failed,
        }
    }

    fn prepare(&mut self) {
        self.text.fill(0);
        self.status = TINFLStatus::Failed;
    }

    fn work(&mut self) {
        self.decompressor.init();
        let flags = TINFL_FLAG_PARSE_ZLIB_HEADER | TINFL_FLAG_USING_NON_WRAPPING_OUTPUT_BUF;
        let text = &mut self.text[..self.size];
        (self.status, ..) = decompress(&mut self.decompressor, DEFLATED, text, 0, flags);
    }

    fn is_right(&self) -> bool {
        let crc = self.text[..self.size].iter().fold(!0, |crc: u32, byte| {
            (0..8).fold(crc ^ u32::from(*byte), |crc, _| {
                crc >> 1 ^ (0xedb8_8320 & (crc & 1).wrapping_neg())
            })
        });
        let status = if self.size == MOST {
            TINFLStatus::Done
        } else {
            TINFLStatus::HasMoreOutput
        };
        self.status == status && TEXTS.contains(&(self.size, !crc))
    }
}

/// Like `programs::setup`, with the first parameter.
fn setup<P: Program>(stage: &'static Stage<P>, run: &mut Run) -> Outcome {
    place(stage, run)?;
    program::begin(run)
}

#[inline(never)]
fn place<P: Program>(stage: &'static Stage<P>, run: &mut Run) -> Outcome {
    extern "C" fn work<P: Program>(it: &mut P) -> u32 {
        it.work();
        0
    }
    let new = P::new(run.value(0));
    stage.measure(run, work::<P>, new)
}

macro_rules! row {
    ($row:ident, $stage:ident, $type:ty) => {
        static $stage: Stage<$type> = Stage::new();
        tock::bench!(
            $row,
            setup: |run| setup(&$stage, run),
            sample: |run| programs::sample(&$stage, run),
            finish: |run| program::end(run),
        );
    };
}

row!(length_aes, AES, Aes);
row!(length_sha256, SHA256, Sha256Of);
row!(length_inflate, INFLATE, Inflate);
tock::stack!(24576);
suite::app!(c"length", programs::benches_length!());
