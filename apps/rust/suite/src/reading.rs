// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Reads of the counters by the app itself, for rows whose samples the sampler does not take, and the
//! overhead of such a read: apps/runtime/own_reading.c is the same in C.

use core::hint::black_box;

use tock::perf;
use tock::runtime::{Outcome, Run};

/// Cycles and instret; in version 1, where a call reads one counter, the requested one.
pub type Reading = [u32; 2];

/// Reads the counters. In version 1 `counter` is a command of Perf.
#[inline(always)]
#[must_use]
pub fn take(counter: u32) -> Reading {
    #[cfg(not(feature = "abi-v1"))]
    {
        let _ = counter;
        perf::both().into()
    }
    #[cfg(feature = "abi-v1")]
    [perf::counter(counter), 0]
}

/// A sample of two reads in a row. Each N is a function at another address.
#[inline(never)]
pub fn sample_of_two<const N: u32>(run: &mut Run) -> Outcome {
    black_box(N); // otherwise the compiler merges the two equal functions
    let counter = run.counter();
    let from = take(counter);
    let to = take(counter);
    run.put_sample(from, to);
    Ok(())
}

/// The harness's rows of reads, which every app measures.
#[doc(hidden)]
#[macro_export]
macro_rules! own_readings {
    () => {
        mod own_readings {
            use suite::reading::sample_of_two;
            use suite::rows;
            tock::export_bench!(tm_bench_time_reading = time_reading, sample: sample_of_two::<2>);
            tock::export_bench!(tm_bench_null_reading = null_reading, sample: sample_of_two::<1>);
        }
    };
}
