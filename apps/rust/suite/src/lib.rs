// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The benchmark apps in Rust. Each file of src/bin is an app; this crate has what they share. The harness
//! and the bodies in assembly are the same object files as in the apps in C. Only the code that calls them,
//! and the compiled bodies, are in Rust.

#![no_std]
pub mod alarm_mark;
#[cfg(feature = "calls")]
pub mod calls;
pub mod exchange;
pub mod input;
#[cfg(not(feature = "abi-v1"))]
pub mod orders;
pub mod peer;
pub mod reading;
pub mod ring;

/// The catalogue's fields of every benchmark, and the bodies in assembly: apps/generate.py.
pub mod rows {
    include!(concat!(env!("OUT_DIR"), "/rows.rs"));
}

#[cfg(feature = "calls")]
pub use calls::bodies;
#[cfg(not(feature = "calls"))]
pub use rows::bodies;

/// The compiler and the flags that shape the code.
pub const CC: &core::ffi::CStr = include!(concat!(env!("OUT_DIR"), "/cc.rs"));

/// Defines the app of a group, with the definitions that the catalogue requires.
///
/// ```ignore
/// app!(c"loop", benches_loop!());
/// ```
#[macro_export]
macro_rules! app {
    ($name:expr, $benches:expr) => {
        tock::export_app!($name, $crate::CC, $benches);
        $crate::own_readings!();
        $crate::only_on_tock!();
    };
}

/// Defines an app without benchmarks, by its function.
#[macro_export]
macro_rules! helper {
    ($main:expr) => {
        tock::main!($main);
        $crate::only_on_tock!();
    };
}

/// The parts that every app needs as a program of its own.
#[doc(hidden)]
#[macro_export]
macro_rules! only_on_tock {
    () => {
        #[cfg(not(target_os = "none"))]
        compile_error!("the apps run on Tock: build them with make apps");

        #[panic_handler]
        fn panic(info: &core::panic::PanicInfo<'_>) -> ! {
            tock::runtime::panicked(info)
        }
    };
}
