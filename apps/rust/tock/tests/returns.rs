// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The results of calls: error codes and the variants of a command's result.

use proptest::prelude::*;
use tock::fake::{self, Answer};
use tock::{CommandReturn, ErrorCode, Kernel, Syscalls, abi};

const DRIVER: u32 = 0x99;

fn config() -> ProptestConfig {
    ProptestConfig {
        cases: if cfg!(miri) { 8 } else { 512 },
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

/// Returns what a command returns if the kernel leaves these registers.
fn returned(words: [u32; 4]) -> CommandReturn {
    fake::driver(DRIVER, move |_, _, _| Answer::Raw(words));
    Kernel::command(DRIVER, 1, 2, 3)
}

#[test]
fn error_codes_are_numbered_as_in_the_kernel_and_named_as_in_c() {
    let console = include_str!("../../../runtime/console.c");
    let (_, table) = console.split_once("error_names[] = {").unwrap();
    let (table, _) = table.split_once('}').unwrap();
    let names: Vec<&str> = table.split('"').skip(1).step_by(2).collect();
    let kernels = &ErrorCode::ALL[..names.len() - 1]; // the first name is OK
    for (code, name) in kernels.iter().zip(&names[1..]) {
        assert_eq!(code.name(), *name);
        assert_eq!(names[*code as usize], *name);
    }
    assert_eq!(ErrorCode::ALL[names.len() - 1..], [ErrorCode::BadRVal]);
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn an_error_code_is_its_number(number in prop_oneof![any::<u32>(), 0..16u32, Just(1024)]) {
        match ErrorCode::try_from(number) {
            Ok(code) => prop_assert_eq!(code as u32, number),
            Err(_) => prop_assert!(ErrorCode::ALL.iter().all(|code| *code as u32 != number)),
        }
    }
}

/// Returns the getters that have a value, and their values.
#[cfg(not(feature = "abi-v1"))]
fn values_of(returned: &CommandReturn) -> Vec<(u32, Vec<u64>)> {
    let failure = |code: ErrorCode| u64::from(code as u32);
    let values = [
        (
            abi::TOCK_FAILURE,
            returned.get_failure().map(|code| vec![failure(code)]),
        ),
        (
            abi::TOCK_FAILURE_U32,
            returned
                .get_failure_u32()
                .map(|(code, a)| vec![failure(code), a.into()]),
        ),
        (
            abi::TOCK_FAILURE_U32_U32,
            returned
                .get_failure_2_u32()
                .map(|(code, a, b)| vec![failure(code), a.into(), b.into()]),
        ),
        (
            abi::TOCK_FAILURE_U64,
            returned
                .get_failure_u64()
                .map(|(code, a)| vec![failure(code), a]),
        ),
        (abi::TOCK_SUCCESS, returned.is_success().then(Vec::new)),
        (
            abi::TOCK_SUCCESS_U32,
            returned.get_success_u32().map(|a| vec![a.into()]),
        ),
        (
            abi::TOCK_SUCCESS_U32_U32,
            returned
                .get_success_2_u32()
                .map(|(a, b)| vec![a.into(), b.into()]),
        ),
        (
            abi::TOCK_SUCCESS_U64,
            returned.get_success_u64().map(|a| vec![a]),
        ),
        (
            abi::TOCK_SUCCESS_U32_U32_U32,
            returned
                .get_success_3_u32()
                .map(|(a, b, c)| vec![a.into(), b.into(), c.into()]),
        ),
        (
            abi::TOCK_SUCCESS_U32_U64,
            returned
                .get_success_u32_u64()
                .map(|(a, b)| vec![a.into(), b]),
        ),
    ];
    values
        .into_iter()
        .filter_map(|(variant, words)| Some((variant, words?)))
        .collect()
}

#[cfg(not(feature = "abi-v1"))]
mod v2 {
    use super::*;

    /// Any variant, mostly the common ones, with an error code in the first word.
    fn answers() -> impl Strategy<Value = [u32; 4]> {
        let variant = prop_oneof![any::<u32>(), 0..6u32, 126..136u32];
        (variant, 1..14u32, any::<u32>(), any::<u32>()).prop_map(|(v, a, b, c)| [v, a, b, c])
    }

    proptest! {
        #![proptest_config(config())]

        #[test]
        fn the_getter_of_its_variant_has_its_words(words in answers()) {
            let [variant, a, b, c] = words;
            let (a64, b64, c64) = (u64::from(a), u64::from(b), u64::from(c));
            let expected = match variant {
                0 | 129 => vec![a64],
                1 | 130 => vec![a64, b64],
                2 | 132 => vec![a64, b64, c64],
                3 | 133 => vec![a64, c64 << 32 | b64],
                131 => vec![b64 << 32 | a64],
                _ => vec![],
            };
            let returned = returned(words);
            let is_defined = variant < 4 || (128..134).contains(&variant);
            let expected = is_defined.then_some((variant, expected));
            prop_assert_eq!(values_of(&returned), expected.into_iter().collect::<Vec<_>>());
            prop_assert_eq!(returned.raw_values(), (variant, a, b, c));
        }

        #[test]
        fn any_failure_is_an_error(words in answers()) {
            let error = Err(ErrorCode::try_from(words[1]).unwrap());
            let returned = returned(words);
            let expected = if words[0] < 128 { error } else { Ok(()) };
            prop_assert_eq!(returned.check(), expected);
            let expected = match words[0] {
                ..=127 => expected.map(|()| 0),
                129 => Ok(words[1]),
                _ => Err(ErrorCode::BadRVal),
            };
            prop_assert_eq!(returned.to_result::<u32, ErrorCode>(), expected);
        }
    }

    #[test]
    fn a_failure_with_an_unknown_code_is_an_error() {
        let returned = returned([abi::TOCK_FAILURE, 77, 0, 0]);
        assert_eq!(returned.check(), Err(ErrorCode::BadRVal));
        assert!(returned.is_failure() && !returned.is_success());
    }

    #[test]
    fn a_success_of_another_variant_is_refused() {
        let returned = returned([abi::TOCK_SUCCESS, 0, 0, 0]);
        assert_eq!(returned.to_result::<(), ErrorCode>(), Ok(()));
        let pair = returned.to_result::<(u32, u32), ErrorCode>();
        assert_eq!(pair, Err(ErrorCode::BadRVal));
    }
}

#[cfg(feature = "abi-v1")]
mod v1 {
    use super::*;

    proptest! {
        #![proptest_config(config())]

        #[test]
        fn the_negative_of_an_error_is_its_code(
            word in prop_oneof![any::<i32>(), -15..16i32],
        ) {
            let returned = returned([word.cast_unsigned(), 0, 0, 0]);
            let code = ErrorCode::try_from(word.unsigned_abs()).unwrap_or(ErrorCode::BadRVal);
            let expected = if word < 0 { Err(code) } else { Ok(word.cast_unsigned()) };
            prop_assert_eq!(returned.check(), expected.map(|_| ()));
            prop_assert_eq!(returned.to_result::<u32, ErrorCode>(), expected);
            prop_assert_eq!(returned.to_result::<(), ErrorCode>(), expected.map(|_| ()));
            prop_assert_eq!(returned.get_success_u32(), expected.ok());
            prop_assert_eq!(returned.get_failure(), expected.err());
            prop_assert_eq!(returned.is_success(), word >= 0);
        }
    }

    #[test]
    fn version_1_returns_no_two_words() {
        let returned = returned([5, 0, 0, 0]);
        assert_eq!(returned.raw_values(), (abi::TOCK_SUCCESS_U32, 5, 0, 0));
        let pair = returned.to_result::<(u32, u32), ErrorCode>();
        assert_eq!(pair, Err(ErrorCode::BadRVal));
    }
}

#[test]
fn a_counter_is_returned_unchanged() {
    let word = 0x8000_0001;
    fake::driver(DRIVER, move |_, _, _| Answer::Word(word));
    assert_eq!(Kernel::command_word(DRIVER, 1, 0, 0), word);
}
