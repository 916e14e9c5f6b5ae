// SPDX-License-Identifier: Apache-2.0 OR MIT

//! What an app gives to the C runtime and to assembly, and takes from it, by name.

/// A benchmark's definition: its name, and what `Bench` has besides the catalogue's ROW. Hooks are
/// functions or closures without captures, `fn(&mut Run) -> Outcome`.
///
/// ```ignore
/// bench!(loop_empty, setup: |run| run.measure(bodies::tm_loop_empty, run.inner()));
/// ```
#[macro_export]
macro_rules! bench {
    ($name:ident $(, $field:ident: $value:expr)* $(,)?) => {
        #[allow(non_upper_case_globals)]
        static $name: $crate::runtime::Bench = {
            #[allow(unused_mut)]
            let mut bench = rows::$name::ROW;
            $(bench.$field = $crate::bench_field!($field $value);)*
            bench
        };
    };
}

/// A field of a definition as C has it.
#[doc(hidden)]
#[macro_export]
macro_rules! bench_field {
    (setup $hook:expr) => {
        $crate::hook!($hook)
    };
    (before $hook:expr) => {
        $crate::hook!($hook)
    };
    (sample $hook:expr) => {
        $crate::hook!($hook)
    };
    (finish $hook:expr) => {
        $crate::hook!($hook)
    };
    (body $body:expr) => {
        Some($body)
    };
    (call $text:expr) => {
        $crate::runtime::Text::new($text)
    };
    (from $text:expr) => {
        $crate::runtime::Text::new($text)
    };
    (to $text:expr) => {
        $crate::runtime::Text::new($text)
    };
    ($other:ident $value:expr) => {
        $value
    };
}

/// A hook that C can call.
#[doc(hidden)]
#[macro_export]
macro_rules! hook {
    ($hook:expr) => {{
        extern "C" fn called(run: &mut $crate::runtime::Run) -> bool {
            let hook: fn(&mut $crate::runtime::Run) -> $crate::runtime::Outcome = $hook;
            hook(run).is_ok()
        }
        Some(called as $crate::runtime::Hook)
    }};
}

/// The app of a group: its name, its compiler, and its definitions, which the catalogue lists.
#[macro_export]
macro_rules! export_app {
    ($name:expr, $cc:expr, $benches:expr) => {
        #[allow(unsafe_code)]
        // SAFETY: the harness, which is linked with it, wants it under this name and of this form.
        #[unsafe(no_mangle)]
        static tm_app: $crate::runtime::App = {
            static BENCHES: &[&$crate::runtime::Bench] = &$benches;
            $crate::runtime::App::new($name, $cc, BENCHES)
        };
    };
}

/// A definition that stands in for the harness's own of this name.
#[macro_export]
macro_rules! export_bench {
    ($symbol:ident = $row:ident $(, $field:ident: $value:expr)* $(,)?) => {
        #[allow(unsafe_code)]
        // SAFETY: the harness wants it under this name and of this form, and is then linked without
        // the file that has its own.
        #[unsafe(no_mangle)]
        static $symbol: $crate::runtime::Bench = {
            #[allow(unused_mut)]
            let mut bench = rows::$row::ROW;
            $(bench.$field = $crate::bench_field!($field $value);)*
            bench
        };
    };
}

/// The start of an app that has no benchmarks: what it returns, if it does, is its completion code.
#[macro_export]
macro_rules! main {
    ($main:expr) => {
        #[allow(unsafe_code)]
        // SAFETY: crt0.S calls it, once, when memory and stack are there.
        #[unsafe(no_mangle)]
        extern "C" fn main() -> i32 {
            let main: fn() -> i32 = $main;
            main()
        }
    };
}

/// A mark: the simulator notes when it comes to this function.
#[macro_export]
macro_rules! mark {
    ($symbol:ident) => {
        #[allow(unsafe_code)]
        // SAFETY: no other symbol begins with tm_mark_.
        #[unsafe(no_mangle)]
        #[inline(never)]
        extern "C" fn $symbol() {
            // SAFETY: there are no instructions.
            unsafe { ::core::arch::asm!("") }
        }
    };
}

/// An upcall whose first instruction is a mark.
#[macro_export]
macro_rules! mark_upcall {
    ($symbol:ident, $what:expr) => {
        #[allow(unsafe_code)]
        // SAFETY: as for `mark!`.
        #[unsafe(no_mangle)]
        extern "C" fn $symbol(first: u32, second: u32, third: u32, _userdata: u32) {
            let what: fn(u32, u32, u32) = $what;
            what(first, second, third)
        }
    };
}

/// This app wants so many bytes of RAM (a plain number) behind its own, and gets them by moving the
/// break as far as there are any.
#[macro_export]
macro_rules! heap {
    ($bytes:literal) => {
        ::core::arch::global_asm!(concat!(".globl tm_heap\n.set tm_heap, ", $bytes));
    };
}

/// This app gets so much stack, a plain number of bytes.
#[macro_export]
macro_rules! stack {
    ($bytes:literal) => {
        ::core::arch::global_asm!(concat!(".globl tm_stack\n.set tm_stack, ", $bytes));
    };
}

/// Bodies in Rust, each of the name of the one in assembly that it stands in for, and takes what
/// that takes.
///
/// ```ignore
/// stand_ins! { tm_syscall_sbrk = Body::new(sbrk); } // extern "C" fn sbrk(_nothing: u32) -> Words
/// ```
#[macro_export]
macro_rules! stand_ins {
    ($($name:ident = $body:expr;)*) => { $(
        #[allow(non_upper_case_globals, unsafe_code)]
        pub const $name: $crate::runtime::Asm = {
            // SAFETY: hooks give to a body of this name what the one in assembly takes.
            unsafe { $body.stand_in() }
        };
    )* };
}

/// The bodies in assembly of these names, as constants of the module `bodies`.
#[macro_export]
macro_rules! bodies {
    ($($name:ident),* $(,)?) => {
        #[allow(non_upper_case_globals, unsafe_code)]
        pub mod bodies {
            $(pub const $name: $crate::runtime::Asm = {
                unsafe extern "C" {
                    fn $name(word: *mut ()) -> u32;
                }
                // SAFETY: it is a body: the catalogue lists it, apps/asm has it.
                unsafe { $crate::runtime::Asm::new($name) }
            };)*
        }
    };
}

/// A procedure for C: it is given a `$type`, which is nobody else's meanwhile, and returns a word.
#[macro_export]
macro_rules! export_procedure {
    ($symbol:ident, $type:ty, $what:expr) => {
        #[allow(unsafe_code)]
        // SAFETY: C declares it under this name and of this form.
        #[unsafe(no_mangle)]
        extern "C" fn $symbol(given: &mut $type) -> u32 {
            let what: fn(&mut $type) -> u32 = $what;
            what(given)
        }
    };
}
