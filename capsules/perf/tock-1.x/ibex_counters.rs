// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The counters of Earl Grey's Ibex, for Perf: mcycle and minstret.

use capsules::perf::commands::Counters;
use rv32i::csr::CSR;

pub struct IbexCounters;

impl Counters for IbexCounters {
    fn cycles(&self) -> u32 {
        CSR.mcycle.get() as u32
    }

    fn cycles_high(&self) -> u32 {
        CSR.mcycleh.get() as u32
    }

    fn instructions(&self) -> u32 {
        CSR.minstret.get() as u32
    }

    fn instructions_high(&self) -> u32 {
        CSR.minstreth.get() as u32
    }
}
