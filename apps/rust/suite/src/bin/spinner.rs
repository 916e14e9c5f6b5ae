// SPDX-License-Identifier: Apache-2.0 OR MIT

//! An app that uses all the time it gets: it never yields.

#![no_std]
#![no_main]

suite::helper!(|| loop {
    core::hint::black_box(());
});
