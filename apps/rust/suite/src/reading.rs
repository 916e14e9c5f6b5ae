// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Readings of the counters by an app itself, for the rows whose samples are not the sampler's; and
//! what such a reading costs: apps/runtime/own_reading.c has the same for C.

use core::hint::black_box;

use tock::perf;
use tock::runtime::{Outcome, Run};

/// Cycles and instret; on version 1, where a call reads one counter, the one asked for.
pub type Reading = [u32; 2];

/// Read them. `counter` is a command of Perf, on version 1.
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

/// A sample of two readings in a row; each N is another place.
#[inline(never)]
pub fn sample_of_two<const N: u32>(run: &mut Run) -> Outcome {
    black_box(N); // else the compiler makes one of two that are equal
    let counter = run.counter();
    let from = take(counter);
    let to = take(counter);
    run.put_sample(from, to);
    Ok(())
}

/// The harness's rows of readings, which every app measures.
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
