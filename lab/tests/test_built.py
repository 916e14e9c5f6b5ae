# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Build products contain no folder names, so they have the same SHA-256 in every folder, and the
page has the kernels' sizes. Needs `make build`. docs/boards-and-simulator.md describes how to
compare builds in two folders."""

import re
import sys

import pytest
from elftools.elf.elffile import ELFFile

from tockmark.base import paths

KERNEL = "riscv32imc-unknown-none-elf/release/tockmark-kernel"
BUILT = ("build/sim/cw310/earlgrey-sim", f"build/cargo/{KERNEL}", f"build/cargo-v1/{KERNEL}")
# The checkout, the Python environment, Cargo's packages.
PLACES = (str(paths.ROOT), sys.prefix, "/registry/src/")


@pytest.mark.parametrize("name", BUILT)
def test_build_products_contain_no_folder_names(name: str) -> None:
    data = (paths.ROOT / name).read_bytes()
    assert [folder for folder in PLACES if folder.encode() in data] == []


def test_the_page_has_the_kernels_sizes() -> None:
    """Code and constants, then initial data, of the kernels of `make build`."""
    page = (paths.ROOT / "kernel" / "README.md").read_text(encoding="utf-8")
    for folder in ("cargo", "cargo-v1"):
        with (paths.ROOT / "build" / folder / KERNEL).open("rb") as file:
            sizes = {section.name: section["sh_size"] for section in ELFFile(file).iter_sections()}
        match = re.search(rf"\| `{folder}` \| (\d+)(?: bytes)? \| (\d+)", page)
        assert match
        assert (int(match[1]), int(match[2])) == (sizes[".text"] + sizes[".rodata"], sizes[".data"])
