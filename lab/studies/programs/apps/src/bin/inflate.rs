// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Inflate by the crate miniz_oxide: 4096 bytes of text (the start of an old docs/method.md), deflated by
//! Python's zlib. The known answer is the text's CRC-32, also by Python.

#![no_std]
#![no_main]

use miniz_oxide::inflate::TINFLStatus;
use miniz_oxide::inflate::core::inflate_flags::{
    TINFL_FLAG_PARSE_ZLIB_HEADER, TINFL_FLAG_USING_NON_WRAPPING_OUTPUT_BUF,
};
use miniz_oxide::inflate::core::{DecompressorOxide, decompress};
use programs::{Program, rows};

const DEFLATED: &[u8] = include_bytes!("../text.z");
const KNOWN: u32 = 0x719e3c7e;

struct Inflate {
    decompressor: DecompressorOxide,
    text: [u8; rows::inflate_text::INNER as usize],
    status: TINFLStatus,
}

impl Program for Inflate {
    fn new(_: u32) -> Self {
        Self {
            decompressor: DecompressorOxide::new(),
            text: [0; rows::inflate_text::INNER as usize],
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
        let (status, ..) = decompress(&mut self.decompressor, DEFLATED, &mut self.text, 0, flags);
        self.status = status;
    }

    fn is_right(&self) -> bool {
        let crc = self.text.iter().fold(!0, |crc: u32, byte| {
            (0..8).fold(crc ^ u32::from(*byte), |crc, _| {
                crc >> 1 ^ (0xedb8_8320 & (crc & 1).wrapping_neg())
            })
        });
        self.status == TINFLStatus::Done && !crc == KNOWN
    }
}

programs::program!(c"inflate", inflate_text, benches_inflate, 24576, Inflate);
