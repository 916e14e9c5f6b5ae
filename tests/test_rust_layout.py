# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The structures that Rust apps share with the C harness have the same layout in both languages:
each field has the same name, offset and size in the debug information of both compilers.

The comment of a Rust structure names its C structure: `struct tm_…`.
"""

import os
import re
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from elftools.dwarf.die import DIE
from elftools.elf.elffile import ELFFile

from tockmark.base import paths

MIRRORS = paths.ROOT / "apps" / "rust" / "tock" / "src" / "runtime"
DECLARED = re.compile(r"((?:^(?:///|#\[).*\n)+)(?:pub )?struct (\w+)", re.M)
NO_MIRROR = {"Words"}  # has repr(C) because it is returned in registers
USERS = ("ctx", "mem")  # together these apps use all structures
MACHINE = ["-march=rv32imc", "-mabi=ilp32", "-std=c11", "--specs=picolibc.specs"]
TARGET = "riscv32imc-unknown-none-elf"
WORD = 4


@dataclass(frozen=True)
class Layout:
    """A structure: its size, and the name, offset and size of each field, in bytes."""

    size: int
    fields: tuple[tuple[str, int, int], ...]


def mirrors() -> dict[str, str]:
    """Return the name of the C structure of each Rust structure."""
    mirrors_by_name: dict[str, str] = {}
    for path in sorted(MIRRORS.glob("*.rs")):
        for above, name in DECLARED.findall(path.read_text(encoding="utf-8")):
            reference = re.search(r"`struct (\w+)`", above)
            if "#[repr(C)]" in above and name not in NO_MIRROR:
                assert reference, f"{path.name} does not name the C struct of {name}"
                mirrors_by_name[name] = reference[1]
    return mirrors_by_name


def bytes_of(die: DIE) -> int:
    """Return the size of a type in bytes."""
    if "DW_AT_byte_size" in die.attributes:
        return int(die.attributes["DW_AT_byte_size"].value)
    if die.tag == "DW_TAG_pointer_type":
        return WORD
    element = bytes_of(die.get_DIE_from_attribute("DW_AT_type"))
    if die.tag != "DW_TAG_array_type":  # another name for a type
        return element
    (bounds,) = die.iter_children()
    if "DW_AT_count" in bounds.attributes:
        return element * int(bounds.attributes["DW_AT_count"].value)
    return element * (int(bounds.attributes["DW_AT_upper_bound"].value) + 1)


def layouts(elf: Path) -> Iterator[tuple[str, Layout]]:
    """Yield each structure of a linked program with its name."""
    with elf.open("rb") as file:
        for unit in ELFFile(file).get_dwarf_info().iter_CUs():
            for die in unit.iter_DIEs():
                if die.tag != "DW_TAG_structure_type" or "DW_AT_name" not in die.attributes:
                    continue
                fields = tuple(
                    (
                        field.attributes["DW_AT_name"].value.decode(),
                        field.attributes["DW_AT_data_member_location"].value,
                        bytes_of(field.get_DIE_from_attribute("DW_AT_type")),
                    )
                    for field in die.iter_children()
                    if field.tag == "DW_TAG_member"
                    and "DW_AT_data_member_location" in field.attributes
                )
                if "DW_AT_byte_size" in die.attributes:
                    name = die.attributes["DW_AT_name"].value.decode()
                    yield name, Layout(die.attributes["DW_AT_byte_size"].value, fields)


def linked(object_: Path, elf: Path) -> Path:
    """Link an object file, so that its debug information is complete; undefined symbols are
    ignored."""
    command = ["riscv64-unknown-elf-ld", "-m", "elf32lriscv", "--unresolved-symbols=ignore-all"]
    subprocess.run([*command, "--no-relax", "-e", "0", object_, "-o", elf], check=True)
    return elf


def layouts_in_c(folder: Path, abi: int) -> dict[str, Layout]:
    """Return the structures of the harness's headers."""
    (folder / "all.c").write_text('#include "bench.h"\n')
    built = paths.APPS / f"c-abi{abi}"
    where = [f"-I{path}" for path in (built, paths.ROOT / "apps/runtime", paths.ROOT / "apps/asm")]
    debug = ["-g", "-fno-eliminate-unused-debug-types", f"-DTM_ABI={abi}"]
    command = ["riscv64-unknown-elf-gcc", *MACHINE, *debug, *where, "-c", "all.c"]
    subprocess.run(command, cwd=folder, check=True)
    return dict(layouts(linked(folder / "all.o", folder / "all.elf")))


def layouts_in_rust(folder: Path, abi: int, names: set[str]) -> dict[str, set[Layout]]:
    """Return all structures with these names in the apps; two may have the same name."""
    target = paths.ROOT / "build" / "cargo-apps-debug"
    command = ["cargo", "build", "--quiet", "--package", "tockmark-suite", "--target", TARGET]
    command += ["--target-dir", str(target), *(word for app in USERS for word in ("--bin", app))]
    command += ["--features", "abi-v1"] if abi == 1 else []
    subprocess.run(command, cwd=paths.ROOT, check=True, env=os.environ | {"TM_CC": "rustc"})
    layouts_by_name: dict[str, set[Layout]] = {}
    for app in USERS:
        for name, layout in layouts(linked(target / TARGET / "debug" / app, folder / app)):
            if name in names:
                layouts_by_name.setdefault(name, set()).add(layout)
    return layouts_by_name


@pytest.mark.parametrize("abi", [1, 2])
def test_rust_has_the_structures_of_c(tmp_path: Path, abi: int) -> None:
    twins = mirrors()
    assert {"tm_bench", "tm_run", "tm_shot", "tm_app", "tm_link", "tm_span"} < set(twins.values())
    in_c, in_rust = layouts_in_c(tmp_path, abi), layouts_in_rust(tmp_path, abi, set(twins))
    assert set(in_rust) == set(twins)
    for name, twin in twins.items():
        for layout in in_rust[name]:
            if name == "Span":  # in C without its memory
                *fields, (own, offset, _) = layout.fields
                assert own == "area"
                layout = Layout(offset, tuple(fields))
            assert layout == in_c[twin], f"{name} is not struct {twin}"
