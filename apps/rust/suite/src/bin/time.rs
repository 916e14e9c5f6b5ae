// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The app time: the overhead of reading the counters. The harness measures its rows in every
//! app (apps/runtime/own.c, reading.rs); with this app they can be run alone.

#![no_std]
#![no_main]

suite::app!(c"time", []);
