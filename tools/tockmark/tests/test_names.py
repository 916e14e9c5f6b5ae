# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Names of functions: demangle Rust's legacy and v0 symbols, and remove types from paths."""

import pytest

from tockmark.profile.symbols import readable, without_types


@pytest.mark.parametrize(
    ("symbol", "name"),
    [
        ("_start_trap", "_start_trap"),
        ("_ZN6kernel5grant5enter17h497b8cf41547853fE", "kernel::grant::enter"),
        ("_RNvNtCs9JfYC7joXO0_6kernel5grant8allow_ro", "kernel::grant::allow_ro"),
        ("a\nb", "a?b"),
        ("", ""),
    ],
)
def test_symbols_are_demangled_without_hashes(symbol: str, name: str) -> None:
    assert readable(["other", symbol, symbol]) == {"other": "other", symbol: name}


@pytest.mark.parametrize(
    ("name", "short"),
    [
        ("kernel::grant::allow_ro", "kernel::grant::allow_ro"),
        ("kernel::grant::Grant<T,U>::enter", "kernel::grant::Grant::enter"),
        ("<kernel::Grant<a::B<C>, 1: u8>>::enter::<fn(u8) -> D<E>>", "kernel::Grant::enter"),
        ("<a::B<C> as d::E<F as G>>::f::{closure#0}", "a::B::f::{closure#0}"),
        ("<<a::B>::new<c::D>::{closure#0} as e::F>::g", "a::B::new::{closure#0}::g"),
        ("core::option::Option<T>::map", "core::option::Option::map"),
        ("<&T as core::fmt::Debug>::fmt", "T::fmt"),
        ("<torn", "torn"),
        ("a<b", "a"),
        ("<" * 4000, ""),
    ],
)
def test_types_are_removed_from_a_path(name: str, short: str) -> None:
    assert without_types(name) == short
