# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Differences between two profiles of one row, and between the symbols of two kernels."""

import json
import subprocess
from pathlib import Path

from typer.testing import CliRunner

from tockmark.cli.app import app
from tockmark.profile import diff, file
from tockmark.profile.diff import Growth, SymbolSize, diff_profiles, growth
from tockmark.profile.file import Share, StoredProfile
from tockmark.result.provenance import Kernel
from tockmark.target.elf import Elf, pieces, read_elf

CC = ["riscv64-unknown-elf-gcc", "-march=rv32im", "-mabi=ilp32", "-nostdlib", "-Wl,--build-id=none"]


def share(name: str, cycles: int, instructions: int, in_body: int = 0) -> Share:
    return Share(name, {"execute": cycles}, instructions, in_body)


def profile(
    *functions: Share, icache: bool = True, params: dict[str, int | str] | None = None
) -> StoredProfile:
    cycles, instructions, in_body = (
        sum(getattr(function, of) for function in functions)
        for of in ("cycles", "instructions", "in_body")
    )
    return StoredProfile(
        file.FORMAT,
        file.VERSION,
        "call.args",
        icache,
        Kernel("k"),
        "a-board",
        (share("kernel", cycles, instructions, in_body),),
        functions,
        params or {},
    )


BASE = profile(
    share("same (a/k.rs)", 10, 5),
    share("moved (a/k.rs)", 20, 6, 9),
    share("grew (a/k.rs)", 30, 7),
    share("went (a/k.rs)", 3, 1),
)
NEW = profile(
    share("same (a/k.rs)", 10, 5),
    share("moved (a/k.rs)", 24, 6, 11),
    share("grew (a/k.rs)", 100, 40),
    share("came (a/k.rs)", 8, 2),
)


def test_a_diff_separates_instructions_from_layout() -> None:
    diff = diff_profiles(BASE, NEW)
    assert (diff.instructions, diff.cycles, diff.layout) == (34, 79, 4)
    assert [(c.name, c.instructions, c.cycles) for c in diff.changed] == [
        ("grew (a/k.rs)", 33, 70),
        ("came (a/k.rs)", 2, 8),
        ("went (a/k.rs)", -1, -3),
    ]
    assert [(c.name, c.cycles, c.in_body) for c in diff.moved] == [("moved (a/k.rs)", 4, 2)]
    assert sum(c.cycles for c in diff.functions) == diff.cycles
    assert sum(c.cycles for c in diff.phases) == diff.cycles


def test_a_profile_does_not_differ_from_itself() -> None:
    same = diff_profiles(BASE, BASE)
    assert (same.instructions, same.cycles, same.changed, same.moved) == (0, 0, (), ())
    assert "+0 instructions, +0 cycles" in diff.diff_text(same)


def elf(folder: Path, *functions: tuple[str, int]) -> Elf:
    text = "".join(
        f".type {name}, @function\n{name}:\n.rept {count}\naddi a0, a0, 1\n.endr\n"
        f".size {name}, . - {name}\n"
        for name, count in functions
    )
    source, made = folder / "k.S", folder / "k.elf"
    source.write_text(f'.text\n.globl _start\n_start:\n{text}.ascii "text"\n')
    subprocess.run([*CC, "-o", made, source], check=True)
    return read_elf(made)


def test_growth_lists_new_removed_and_resized_functions(tmp_path: Path) -> None:
    hashes = ("497b8cf41547853f", "0123456789abcdef")
    names = [f"_ZN1k5grant5enter17h{hash_}E" for hash_ in hashes]
    base = elf(tmp_path, (names[0], 8), ("same", 4), ("went", 3), ("OUTLINED_FUNCTION_1", 2))
    new = elf(tmp_path, (names[1], 9), ("same", 4), ("came", 5), ("OUTLINED_FUNCTION_7", 2))
    grown = growth(base, new)
    assert grown == (
        Growth("came", None, SymbolSize(1, 20, 0)),
        Growth("went", SymbolSize(1, 12, 0), None),
        Growth("k::grant::enter", SymbolSize(1, 32, 0), SymbolSize(1, 36, 0)),
    )
    was, now = (sum(piece.size for piece in pieces(side) if piece.in_flash) for side in (base, new))
    assert sum(change.flash for change in grown) == now - was
    shown = diff.diff_text(diff_profiles(BASE, BASE), grown)
    assert "came (new)" in shown
    assert "went (removed)" in shown


def test_profile_diff_takes_two_files(tmp_path: Path) -> None:
    paths = [tmp_path / "a.json", tmp_path / "b.json"]
    for path, made in zip(paths, (BASE, NEW), strict=True):
        path.write_text(file.text(made), encoding="utf-8")
    call = ["profile", "--diff", *map(str, paths)]
    done = CliRunner().invoke(app, call)
    assert "+34 instructions, +79 cycles, +4 of them by layout alone" in done.output
    output = json.loads(CliRunner().invoke(app, [*call, "--json"]).output)
    assert (output["instructions"], output["cycles"], output["layout_cycles"]) == (34, 79, 4)
    refused = CliRunner().invoke(app, ["profile", "call.args", *call[1:]])
    assert "--diff" in str(refused.exception)
    refused = CliRunner().invoke(app, ["profile", "--diff", str(paths[0]), "k.elf"])
    assert "--diff" in str(refused.exception)
    refused = CliRunner().invoke(app, ["profile"])
    assert "needs a benchmark" in str(refused.exception)
