// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The symbols that an app shares with the C runtime and with assembly.

/// Defines a benchmark: its name, and the fields of `Bench` in addition to the catalogue's ROW. Hooks are
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

/// A field of a definition, in its C form.
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

/// Defines the app of a group: its name, its compiler, and its definitions, which the catalogue lists.
#[macro_export]
macro_rules! export_app {
    ($name:expr, $cc:expr, $benches:expr) => {
        #[allow(unsafe_code)]
        // SAFETY: the harness, which is linked with it, expects this name and type.
        #[unsafe(no_mangle)]
        static tm_app: $crate::runtime::App = {
            static BENCHES: &[&$crate::runtime::Bench] = &$benches;
            $crate::runtime::App::new($name, $cc, BENCHES)
        };
    };
}

/// Defines a benchmark that replaces the harness's own of this name.
#[macro_export]
macro_rules! export_bench {
    ($symbol:ident = $row:ident $(, $field:ident: $value:expr)* $(,)?) => {
        #[allow(unsafe_code)]
        // SAFETY: the harness expects this name and type, and is then linked without the file that has its
        // own.
        #[unsafe(no_mangle)]
        static $symbol: $crate::runtime::Bench = {
            #[allow(unused_mut)]
            let mut bench = rows::$row::ROW;
            $(bench.$field = $crate::bench_field!($field $value);)*
            bench
        };
    };
}

/// Defines the start of an app without benchmarks. If it returns, the result is its completion code.
#[macro_export]
macro_rules! main {
    ($main:expr) => {
        #[allow(unsafe_code)]
        // SAFETY: crt0.S calls it once, when memory and stack are ready.
        #[unsafe(no_mangle)]
        extern "C" fn main() -> i32 {
            let main: fn() -> i32 = $main;
            main()
        }
    };
}

/// Defines a mark: the simulator records when the core reaches this function.
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

/// Defines an upcall whose first instruction is a mark.
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

/// Requests this many bytes of RAM (a plain number) in addition to the app's own. The app gets them by moving
/// the break, if the kernel has them.
#[macro_export]
macro_rules! heap {
    ($bytes:literal) => {
        ::core::arch::global_asm!(concat!(".globl tm_heap\n.set tm_heap, ", $bytes));
    };
}

/// Sets the app's stack to this many bytes, a plain number.
#[macro_export]
macro_rules! stack {
    ($bytes:literal) => {
        ::core::arch::global_asm!(concat!(".globl tm_stack\n.set tm_stack, ", $bytes));
    };
}

/// Defines bodies in Rust. Each has the name of the assembly body that it replaces, and takes the same
/// argument.
///
/// ```ignore
/// stand_ins! { tm_syscall_sbrk = Body::new(sbrk); } // extern "C" fn sbrk(_nothing: u32) -> Words
/// ```
#[macro_export]
macro_rules! stand_ins {
    ($($name:ident = $body:expr;)*) => { $(
        #[allow(non_upper_case_globals, unsafe_code)]
        pub const $name: $crate::runtime::Asm = {
            // SAFETY: hooks give a body of this name the argument of the one in assembly.
            unsafe { $body.stand_in() }
        };
    )* };
}

/// Declares the assembly bodies with these names, as constants of the module `bodies`.
#[macro_export]
macro_rules! bodies {
    ($($name:ident),* $(,)?) => {
        #[allow(non_upper_case_globals, unsafe_code)]
        pub mod bodies {
            $(pub const $name: $crate::runtime::Asm = {
                unsafe extern "C" {
                    fn $name(word: *mut ()) -> u32;
                }
                // SAFETY: it is a body: the catalogue lists it, apps/asm defines it.
                unsafe { $crate::runtime::Asm::new($name) }
            };)*
        }
    };
}

/// Defines a procedure for C: it gets a `$type` that nothing else uses meanwhile, and returns a word.
#[macro_export]
macro_rules! export_procedure {
    ($symbol:ident, $type:ty, $what:expr) => {
        #[allow(unsafe_code)]
        // SAFETY: C declares it with this name and type.
        #[unsafe(no_mangle)]
        extern "C" fn $symbol(given: &mut $type) -> u32 {
            let what: fn(&mut $type) -> u32 = $what;
            what(given)
        }
    };
}
