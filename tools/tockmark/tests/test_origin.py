# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The origin of a kernel, and sources that contradict each other."""

import dataclasses
from pathlib import Path

import pytest

from tockmark.base.errors import TockmarkError
from tockmark.target.kernel import KernelElf, merge_facts, rustc_versions, with_origin

KERNEL = KernelElf(Path("k.elf"), None, "0" * 64, None, (), rustc="1.95.0 (59807616e 2026-04-14)")
WHOLE = """
name = "Tock 2.2, patched"
commit = "9554639b1"
opt_level = "z"
flags = "lto=true relocation-model=static"
rustc = "rustc 1.95.0"
"""


def manifest(folder: Path, text: str) -> Path:
    path = folder / "k.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_a_manifest_adds_facts_to_those_of_the_kernel(tmp_path: Path) -> None:
    kernel = with_origin(KERNEL, manifest=manifest(tmp_path, WHOLE))
    assert (kernel.name, kernel.commit, kernel.opt_level) == ("Tock 2.2, patched", "9554639b1", "z")
    assert kernel.flags == "lto=true relocation-model=static"
    assert kernel.rustc == KERNEL.rustc  # more detailed than in the manifest


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (
            'colour = "red"',
            "not a valid manifest of a kernel: .*unknown field `colour`. .*keys name, commit",
        ),
        ("name = 5", r"not a valid manifest of a kernel: .*\$.name"),
        ("name", "not a valid manifest"),
        ("opt_level = 4", "not a valid manifest"),
        ("opt_level = true", "not a valid manifest"),
        (
            'opt_level = "fast"',
            r"opt_level 'fast' in .*k.toml is not an opt-level. Give 0, 1, 2, 3, s or z",
        ),
        ('flags = "a\\u202eb"', r"flags .* in .*k.toml is not printable"),
        ('rustc = "1.94.0"', r"k.elf states the rustc .*k.toml states .1.94.0."),
        ('name = "Tock"', r"--kernel-name states the name .mine., .*k.toml states .Tock."),
        ('opt_level = "s"', r"--opt-level states the opt_level .z., .*k.toml states .s."),
    ],
)
def test_an_invalid_manifest_is_refused_in_one_line(text: str, why: str, tmp_path: Path) -> None:
    with pytest.raises(TockmarkError, match=why) as refused:
        with_origin(KERNEL, "mine", "z", manifest(tmp_path, text))
    assert "\n" not in str(refused.value)


def test_options_may_not_contradict_the_kernel() -> None:
    own = dataclasses.replace(KERNEL, name="mine", opt_level="3")
    with pytest.raises(TockmarkError, match=r"'mine', --kernel-name"):
        with_origin(own, "another")
    with pytest.raises(TockmarkError, match=r"'3', --opt-level"):
        with_origin(own, None, "z")
    assert merge_facts({"one": {"name": "x"}, "other": {"name": "x"}}) == {"name": "x"}


def test_the_versions_of_rustc_in_an_elf() -> None:
    assert rustc_versions(b"rustc version 1.95.0 (5980 2026-04-14)\0Linker: LLD 22\0") == (
        "1.95.0 (5980 2026-04-14)"
    )
    assert rustc_versions(b"GCC: 12\0rustc version 2\0rustc version 1\0rustc version 2\0") == "1, 2"
    assert rustc_versions(b"GCC: (GNU) 12.2.0\0") is None
