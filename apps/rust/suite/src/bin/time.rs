// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The app time: what a reading of the counters costs. Its rows are those that the harness measures in
//! every app (apps/runtime/own.c, reading.rs); this app lets them be run alone.

#![no_std]
#![no_main]

suite::app!(c"time", []);
