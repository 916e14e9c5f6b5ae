# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The structures that apps in Rust share with the C harness are laid out alike on both sides: each
field by its name, place and size, as the two compilers say in their debug information.

Which belong together their comments in apps/rust say: `struct tm_…`.
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
NO_MIRROR = {"Words"}  # of repr(C), since it is returned in registers as a structure is
USERS = ("ctx", "mem")  # apps that have all of them between them
MACHINE = ["-march=rv32imc", "-mabi=ilp32", "-std=c11", "--specs=picolibc.specs"]
TARGET = "riscv32imc-unknown-none-elf"
WORD = 4


@dataclass(frozen=True)
class Layout:
    """A structure: bytes in all, and of each field name, offset and bytes."""

    size: int
    fields: tuple[tuple[str, int, int], ...]


def mirrors() -> dict[str, str]:
    """The C structure that each Rust one is."""
    found: dict[str, str] = {}
    for path in sorted(MIRRORS.glob("*.rs")):
        for above, name in DECLARED.findall(path.read_text(encoding="utf-8")):
            said = re.search(r"`struct (\w+)`", above)
            if "#[repr(C)]" in above and name not in NO_MIRROR:
                assert said, f"{path.name} does not say which struct of C {name} is"
                found[name] = said[1]
    return found


def bytes_of(die: DIE) -> int:
    """What a type takes."""
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
    """Each structure of a linked program, by its name."""
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
    """An object file with all places within its debug information filled in; what it calls is of
    no account."""
    command = ["riscv64-unknown-elf-ld", "-m", "elf32lriscv", "--unresolved-symbols=ignore-all"]
    subprocess.run([*command, "--no-relax", "-e", "0", object_, "-o", elf], check=True)
    return elf


def in_c(folder: Path, abi: int) -> dict[str, Layout]:
    """The structures of the harness's headers."""
    (folder / "all.c").write_text('#include "bench.h"\n')
    built = paths.APPS / f"c-abi{abi}"
    where = [f"-I{path}" for path in (built, paths.ROOT / "apps/runtime", paths.ROOT / "apps/asm")]
    debug = ["-g", "-fno-eliminate-unused-debug-types", f"-DTM_ABI={abi}"]
    command = ["riscv64-unknown-elf-gcc", *MACHINE, *debug, *where, "-c", "all.c"]
    subprocess.run(command, cwd=folder, check=True)
    return dict(layouts(linked(folder / "all.o", folder / "all.elf")))


def in_rust(folder: Path, abi: int, names: set[str]) -> dict[str, set[Layout]]:
    """The structures of these names in apps, every one, in case two have the same name."""
    target = paths.ROOT / "build" / "cargo-apps-debug"
    command = ["cargo", "build", "--quiet", "--package", "tockmark-suite", "--target", TARGET]
    command += ["--target-dir", str(target), *(word for app in USERS for word in ("--bin", app))]
    command += ["--features", "abi-v1"] if abi == 1 else []
    subprocess.run(command, cwd=paths.ROOT, check=True, env=os.environ | {"TM_CC": "rustc"})
    found: dict[str, set[Layout]] = {}
    for app in USERS:
        for name, layout in layouts(linked(target / TARGET / "debug" / app, folder / app)):
            if name in names:
                found.setdefault(name, set()).add(layout)
    return found


@pytest.mark.parametrize("abi", [1, 2])
def test_rust_has_the_structures_of_c(tmp_path: Path, abi: int) -> None:
    twins = mirrors()
    assert {"tm_bench", "tm_run", "tm_shot", "tm_app", "tm_link", "tm_span"} < set(twins.values())
    there, here = in_c(tmp_path, abi), in_rust(tmp_path, abi, set(twins))
    assert set(here) == set(twins)
    for name, twin in twins.items():
        for layout in here[name]:
            if name == "Span":  # in C without the memory that it is of
                *fields, (own, offset, _) = layout.fields
                assert own == "area"
                layout = Layout(offset, tuple(fields))
            assert layout == there[twin], f"{name} is not struct {twin}"
