# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Any file is read as a kernel's ELF, or refused in one line. Sizes in it are not trusted.

TOCKMARK_FUZZ sets how often a file is damaged.
"""

import os
import random
import subprocess
from pathlib import Path

import pytest

from tockmark.base.errors import TockmarkError
from tockmark.target.elf import archive_members, read_elf
from tockmark.target.kernel import read_kernel
from tockmark.tests import elves
from tockmark.tests.elves import BASE, Segment
from tockmark.tests.tries import RecordProperty, record_tries

COUNT = int(os.environ.get("TOCKMARK_FUZZ", "2000"))
CODE = b"\x13\0\0\0" * 4


def test_an_elf_file_is_read(tmp_path: Path) -> None:
    path = tmp_path / "k.elf"
    path.write_bytes(
        elves.make_elf(
            [Segment(BASE + 8, CODE), Segment(0x1000_0000), Segment(BASE, b"ab")], [("x", 7)]
        )
    )
    elf = read_elf(path)
    assert elf.segments == ((BASE + 8, CODE), (BASE, b"ab"))
    assert elf.addresses == {"": 0, "x": 7}
    assert elf.entry == BASE
    assert elf.content(".strtab") == b"\0x\0"
    assert elf.content(".comment") == b""


@pytest.mark.parametrize(
    ("segments", "message"),
    [
        ([], "has nothing to load"),
        ([Segment(BASE)], "has nothing to load"),
        ([Segment(BASE, CODE, size=2**32 - 1)], "that overlaps the end of all memory"),
        ([Segment(BASE, CODE, start=0x1000)], "is damaged: it ends before byte 0x1010"),
        ([Segment(BASE, CODE, start=2**32 - 1)], "is damaged: it ends before byte 0x10000000f"),
        (
            [Segment(BASE + 12, CODE), Segment(BASE, CODE)],
            "has a segment at 0x20000000 that overlaps the one at 0x2000000c",
        ),
        ([Segment(BASE, CODE, start=0)] * 2, "overlaps the one at"),
    ],
)
def test_impossible_segments_are_refused(
    segments: list[Segment], message: str, tmp_path: Path
) -> None:
    path = tmp_path / "k.elf"
    path.write_bytes(elves.make_elf(segments))
    with pytest.raises(TockmarkError, match=message) as caught:
        read_kernel(path)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("names", "count"),
    [
        (["rust_begin_unwind"], 1),  # Tock 1.x and 2.x up to rustc 1.86
        (["_RNvCsfLfy6EI15iL_7___rustc17rust_begin_unwind"], 1),
        (["_ZN4core9panicking9panic_fmt17h0123456789abcdefE"], 1),  # with the handler inside
        (["_RNvNtCs3xQ30Ue3M98_4core9panicking19panic_nounwind_fmt", "rust_begin_unwind"], 2),
        (["_ZN6kernel5debug11panic_begin17h0123456789abcdefE", "my_rust_begin_unwinds"], 0),
        (["_RNvXs1_NtNtCs3xQ30Ue3M98_4core5panic10panic_infoNtB5_12PanicMessage3fmt"], 0),
    ],
)
def test_the_symbols_show_where_a_panic_begins(
    names: list[str], count: int, tmp_path: Path
) -> None:
    path = tmp_path / "k.elf"
    symbols = [(name, elves.BASE + 4 * at) for at, name in enumerate(names)]
    path.write_bytes(elves.make_elf([elves.Segment(elves.BASE, bytes(8))], symbols, elves.FUNCTION))
    assert read_kernel(path).panics == tuple(address for _, address in symbols)[:count]


@pytest.mark.whole
def test_a_pipe_is_not_read(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "k.elf")
    with pytest.raises(TockmarkError, match="is not a file"):
        read_kernel(tmp_path / "k.elf")


def test_a_damaged_elf_is_read_or_refused_in_one_line(
    tmp_path: Path, record_property: RecordProperty
) -> None:
    """Change bytes anywhere, and sometimes cut the file."""
    path = tmp_path / "k.elf"
    symbols = [("TOCKMARK_KERNEL", BASE), ("TOCKMARK_SLICE_US", BASE + 4)]
    symbols += [(name, BASE + 64) for name in ("_sapps", "_eapps", "_sappmem", "_eappmem")]
    whole = elves.make_elf([Segment(BASE, b"a kernel\0"), Segment(BASE + 64, CODE)], symbols)
    read = 0
    for seed in range(COUNT):
        rng = random.Random(seed)
        content = bytearray(whole)
        for _ in range(rng.choice([1, 1, 2, 4])):
            content[rng.randrange(len(content))] = rng.choice(
                [0, 1, 0x7F, 0xFF, rng.randrange(256)]
            )
        path.write_bytes(content if rng.random() < 0.9 else content[: rng.randrange(len(content))])
        try:
            kernel = read_kernel(path)
        except TockmarkError as error:
            shown = str(error)
        else:
            read += 1
            shown = kernel.name or ""
        assert shown.isprintable(), f"seed {seed}"
    assert COUNT / 10 < read < COUNT * 9 / 10
    outcomes = {"read as a kernel": read, "refused in one line": COUNT - read}
    record_tries(record_property, "kernel ELFs, read by the tool", COUNT, range(COUNT), outcomes)


def test_the_members_of_an_archive_are_read(tmp_path: Path) -> None:
    """Names of more than 15 characters are stored separately."""
    members = {"a.o": CODE, "a-name-of-some-length.o": b"odd", "b.o": b""}
    for name, content in members.items():
        (tmp_path / name).write_bytes(content)
    library = tmp_path / "library.a"
    command = ["riscv64-unknown-elf-ar", "rcs", str(library), *members]
    subprocess.run(command, cwd=tmp_path, check=True)
    assert {name: data for name, data in archive_members(library.read_bytes()) if name} == members
