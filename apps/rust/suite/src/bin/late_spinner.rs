// SPDX-License-Identifier: Apache-2.0 OR MIT

//! An app that takes all the time it gets, but only some time after its start: so the app beside it can
//! first measure, undisturbed by time slices, what a reading of the counters costs.

#![no_std]
#![no_main]

suite::beside!(|| {
    let _ = tock::alarm::nap(20);
    loop {
        core::hint::black_box(());
    }
});
