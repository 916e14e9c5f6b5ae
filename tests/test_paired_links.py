# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The verb judge on two commits with paired links: the baseline kernel, and a copy with NOPs
planted in one call. Every function begins at the same address on both sides, only the bytes of
the changed function differ, and rows that do not execute it keep their cycles.

Builds both kernels, and runs a few rows: half a minute.
"""

import json
import os
import shutil
import subprocess
from pathlib import Path, PurePosixPath
from typing import Any

import pytest
import scratch
import variants
from typer.testing import CliRunner

from tockmark.base import paths
from tockmark.cli import app
from tockmark.target.elf import IS_FUNCTION, Elf, read_elf
from tockmark.trees.builds import Pairs, Recipe, build_sides

NOPS = 12
CALL = "_read_write_allow"
PLANTED = (
    "        let new = UserBuffer::new(at, size, &[self.process().ram()]);",
    f'        unsafe {{ core::arch::asm!(".rept {NOPS}", "nop", ".endr") }};\n'
    "        let new = UserBuffer::new(at, size, &[self.process().ram()]);",
)
CARGO = (
    # The checkout's compiled crates, so that only the kernel is compiled.
    f"mkdir -p target && cp -a '{paths.ROOT}'/build/cargo/. target/ && "
    "cargo rustc -q --offline --target-dir target --release -p tockmark-kernel"
    f" --bin tockmark-kernel --target {variants.IMAGE.parts[0]} --"
)
ELF = PurePosixPath("target") / variants.IMAGE
HANDED = ' -C link-args="$TOCKMARK_LINK_ARGS"'
AUTHOR = {
    f"GIT_{who}_{what}": "a@b" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")
}


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository of the kernel, with the change in its last commit."""
    folder = tmp_path_factory.mktemp("tree")
    for name in ("apps/rust", "capsules", "kernel"):
        shutil.copytree(paths.ROOT / name, folder / name)
    for name in scratch.FILES:
        shutil.copy(paths.ROOT / name, folder)
    lints = folder / "Cargo.toml"
    lints.write_text(lints.read_text().replace('= "deny"', '= "allow"'))
    (folder / ".gitignore").write_text("target\n")

    def git(*command: str) -> None:
        subprocess.run(["git", *command], cwd=folder, env=os.environ | AUTHOR, check=True)

    git("init", "--quiet")
    git("add", ".")
    git("commit", "--quiet", "-m", "the kernel")
    source = folder / "kernel" / "src" / "v2.rs"
    text = source.read_text()
    assert text.count(PLANTED[0]) == 1
    source.write_text(text.replace(*PLANTED))
    git("commit", "--quiet", "-am", f"{NOPS} NOPs in a call")
    return folder


@pytest.fixture(autouse=True)
def separate_cache(
    tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Share the builds among the tests of this file only."""
    kept = tmp_path_factory.getbasetemp() / "kept"
    for name in ("COMMITS", "PAIRS"):
        monkeypatch.setattr(paths, name, kept / name)
    monkeypatch.setenv("XDG_CACHE_HOME", str(kept / "cache"))


def functions(elf: Elf) -> dict[str, int]:
    """Return the addresses of functions, by name without the hash."""
    return {symbol.name: symbol.address for symbol in elf.symbols if symbol.kind == IS_FUNCTION}


def test_all_functions_begin_at_the_same_address_and_only_changed_code_differs(
    tree: Path, tmp_path: Path
) -> None:
    with build_sides(tree, ["HEAD~1", "HEAD"], Recipe(CARGO + HANDED, ELF)) as both:
        pairs = Pairs.of(both, tmp_path)
        made = pairs.up_to(3)
        (changed,) = pairs.links.changed
        assert CALL in changed.name
        assert [pair.moved for pair in made] == [()] * 3
        orders = set()
        for pair in made:
            base, head = (read_elf(path) for path in pair.elves)
            assert functions(base) == functions(head)
            assert len(functions(base)) > 40
            orders.add(tuple(sorted(functions(base), key=functions(base).__getitem__)))
            (start,) = (at for name, at in functions(base).items() if CALL in name)
            behind = min(at for at in functions(base).values() if at > start)
            for (place, slot), (other_place, other_slot) in zip(
                base.segments, head.segments, strict=True
            ):
                assert place == other_place
                assert len(slot) == len(other_slot)
                unlike = [
                    place + n
                    for n, pair in enumerate(zip(slot, other_slot, strict=True))
                    if pair[0] != pair[1]
                ]
                assert all(start <= at < behind for at in unlike)
            assert not any(symbol.name.startswith(".tockmark") for symbol in base.symbols)
        assert len(orders) == 3
        plain = [read_elf(path) for path in pairs.plain]
        assert functions(plain[0]) != functions(plain[1])


def judge(tree: Path, folder: Path, build: str) -> tuple[int, dict[str, object]]:
    """Judge the change by a few rows with the cache off."""
    words = ["judge", str(tree), "HEAD~1", "HEAD", "--build", build, "--elf", str(ELF)]
    words += ["--no-patch", "--profiles", "0", "--icache", "off", "-o", str(folder), "--json"]
    done = CliRunner().invoke(app.app, [*words, "--only", "time,syscall.allow_rw,syscall.allow_ro"])
    assert isinstance(done.exception, SystemExit | None), done.exc_info
    return done.exit_code, json.loads(done.stdout)


def test_the_planted_cost_is_found_to_the_cycle(tree: Path, tmp_path: Path) -> None:
    code, document = judge(tree, tmp_path, CARGO + HANDED)
    assert code == 3
    rows: list[dict[str, Any]] = document["rows"]  # type: ignore[assignment]
    moved = [row for row in rows if row["instructions"] and row["instructions"]["moved"]]
    assert moved
    for row in moved:
        assert row["id"] == "syscall.allow_rw"
        assert row["instructions"]["moved"] == NOPS
        # A NOP of 2 bytes takes a cycle, because flash delivers 8 bytes in 4 cycles.
        assert NOPS <= row["after"] - row["before"] <= NOPS + 4
    others = [row for row in rows if row["id"] != "syscall.allow_rw"]
    assert {row["verdict"] for row in others} <= {"same", "unsure", "not judged"}
    notes = " ".join(document["notes"])  # type: ignore[arg-type]
    assert "same address" in notes
