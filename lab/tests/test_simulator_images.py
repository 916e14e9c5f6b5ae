# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The simulator loads files in the order of its options, and reports a file that it cannot load
with one line. Needs `make sim`."""

import subprocess
from pathlib import Path

import pytest

from tockmark.base import paths
from tockmark.tests import elves
from tockmark.tests.elves import BASE, Segment

SIMULATOR = paths.ROOT / "build" / "sim" / "cw310" / "earlgrey-sim"
USAGE = 2  # the simulator's exit code
MAILBOX = 0x4114_0000
AT = BASE + 0x1000  # each file loads another value into this word of flash

# Sends the word at AT to the mailbox and closes it.
PROGRAM = b"".join(
    word.to_bytes(4, "little")
    for word in (
        0x4114_0537,  # lui a0, 0x41140
        0x2000_15B7,  # lui a1, 0x20001
        0x0005_A603,  # lw a2, 0(a1)
        0x00C5_2023,  # sw a2, 0(a0)
        0x0005_2223,  # sw zero, 4(a0)
        0x0000_006F,  # j .
    )
)


def run(*options: str) -> subprocess.CompletedProcess[str]:
    command = [str(SIMULATOR), "--max-cycles", "10000", "--boot", hex(BASE)]
    command += ["--mailbox", hex(MAILBOX), *options]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)


@pytest.fixture
def files(tmp_path: Path) -> dict[str, str]:
    """Return a program and files with the word at AT: the options that load them."""
    content = {
        "program": bytes(0x80) + PROGRAM,
        "elf": elves.make_elf([Segment(AT, b"\x07\0\0\0")]),
        "raw": b"\x05\0\0\0",
    }
    for name, data in content.items():
        (tmp_path / name).write_bytes(data)
    return {name: str(tmp_path / name) for name in content}


@pytest.mark.parametrize(("order", "word"), [(("elf", "raw"), 5), (("raw", "elf"), 7)])
def test_the_later_of_two_overlapping_files_counts(
    order: tuple[str, str], word: int, files: dict[str, str]
) -> None:
    arguments = {"elf": ["--elf", files["elf"]], "raw": ["--load", f"{files['raw']}@{AT:#x}"]}
    done = run("--flash", files["program"], *(part for name in order for part in arguments[name]))
    assert done.stdout == f"{word}\n"
    first, second = (files[name] for name in order)
    overlap = f"earlgrey-sim: {second} overlaps {first} at {AT:#x}: the later one counts\n"
    assert done.stderr.startswith(overlap)


def test_adjacent_files_do_not_overlap(files: dict[str, str]) -> None:
    done = run(
        *("--flash", files["program"], "--load", f"{files['raw']}@{AT:#x}"),
        *("--load", f"{files['raw']}@{AT + 4:#x}"),
    )
    assert done.stdout == "5\n"
    assert "overlap" not in done.stderr


@pytest.mark.parametrize("option", ["--flash", "--elf", "--load"])
def test_a_folder_is_refused_as_image(option: str, tmp_path: Path) -> None:
    done = run(option, f"{tmp_path}@{BASE:#x}" if option == "--load" else str(tmp_path))
    assert done.returncode == USAGE
    assert done.stderr == f"earlgrey-sim: cannot read {tmp_path}: Is a directory\n"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (elves.make_elf([]), "has nothing to load"),
        (elves.make_elf([Segment(BASE)]), "has nothing to load"),
        (elves.make_elf([Segment(BASE, b"abcd", size=2**32 - 1)]), "torn segment"),
        (elves.make_elf([Segment(BASE, b"abcd", start=2**31)]), "torn segment"),
        (elves.make_elf([Segment(0x1234, b"abcd")]), "no memory at 0x00001234"),
    ],
)
def test_an_elf_that_cannot_be_loaded_is_refused(
    content: bytes, message: str, tmp_path: Path
) -> None:
    path = tmp_path / "k.elf"
    path.write_bytes(content)
    done = run("--elf", str(path))
    assert done.returncode == USAGE
    assert message in done.stderr
    assert done.stderr.count("\n") == 1


def test_a_file_without_an_end_is_refused() -> None:
    done = run("--flash", "/dev/zero")
    assert done.returncode == USAGE
    assert "is too large" in done.stderr
