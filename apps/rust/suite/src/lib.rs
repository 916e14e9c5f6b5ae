// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The benchmark apps in Rust. Each file of src/bin is an app; here is what they share. The harness and
//! the bodies in assembly are those of the apps in C, the very same object files: what Rust brings is
//! what calls them, and the bodies that a compiler makes.

#![no_std]
pub mod alarm_mark;
#[cfg(feature = "calls")]
pub mod calls;
pub mod exchange;
#[cfg(not(feature = "abi-v1"))]
pub mod orders;
pub mod peer;
pub mod reading;
pub mod ring;

/// What the catalogue says of every benchmark, and the bodies in assembly: apps/generate.py.
pub mod rows {
    include!(concat!(env!("OUT_DIR"), "/rows.rs"));
}

#[cfg(feature = "calls")]
pub use calls::bodies;
#[cfg(not(feature = "calls"))]
pub use rows::bodies;

/// The compiler, and what shapes the code.
pub const CC: &core::ffi::CStr = include!(concat!(env!("OUT_DIR"), "/cc.rs"));

/// The app of a group, with the definitions that the catalogue wants of it.
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

/// An app that has no benchmarks: what it does.
#[macro_export]
macro_rules! beside {
    ($main:expr) => {
        tock::main!($main);
        $crate::only_on_tock!();
    };
}

/// What every app needs that is a program of its own.
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
