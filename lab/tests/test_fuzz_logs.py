# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Damaged logs: the parser succeeds or fails with one line, and every row that survives has the
numbers of the undamaged log.

TOCKMARK_FUZZ=100000 damages this many logs of each type. Every line has a checksum, so any damage
is allowed."""

import os
import random
import re
import tempfile
from collections.abc import Callable
from itertools import product
from pathlib import Path

import pytest

from tockmark.base.errors import TockmarkError
from tockmark.result.build import build
from tockmark.result.file import load, text
from tockmark.result.model import Result
from tockmark.suite.catalogue import Catalogue, Lang
from tockmark.target.parse import parse
from tockmark.tests.conftest import RECORDS, encoded, seconds
from tockmark.tests.rows import samples as series_in
from tockmark.tests.tries import RecordProperty, record_tries
from tockmark.wire.boots import assemble
from tockmark.wire.records import BootMark, decode
from tockmark.wire.uart_line import LINE_LIMIT, UartLine, crc16

COUNT = int(os.environ.get("TOCKMARK_FUZZ", "300"))
BYTES = [chr(byte) for byte in range(256) if chr(byte) not in "\n0123456789"]

Rows = dict[tuple[object, ...], dict[str, list[int]]]
Lines = list[str]
Damage = Callable[[random.Random, Lines], None]


def ours(marked: bool, *langs: Lang) -> Lines:
    """Return a log of three apps, with some messages of the kernel."""
    lines = ["kernel: started"]
    for app, records in RECORDS.items():
        for lang, icache in product(langs or ("c",), (True, False) if marked else (None,)):
            language = lang if langs else None
            ends = [BootMark(app, icache, app, e, language).encode() for e in (False, True)
                    if icache is not None]  # fmt: skip
            more = 7 * (icache is False) + 13 * (lang == "rust")
            own = [slower(record, more).replace("lang=c", f"lang={lang}") for record in records]
            lines += [*ends[:1], *encoded(app, own), f"kernel: {app} exited", *ends[1:]]
    return lines


def ours_named(marked: bool, boots: int = 2) -> Lines:
    """Return a log whose apps name their boot and image; each app has several boots."""
    lines = ["kernel: started"]
    for (app, records), number in product(RECORDS.items(), range(boots)):
        name = f"{app}-{number}"
        for icache in (True, False) if marked else (None,):
            more = 7 * (icache is False) + 13 * number
            image = f"{crc16(name.encode()):08x}"
            own = [slower(record, more) for record in records]
            own[0] += f" boot={name} image={image}"
            own[-1] += f" image={image}"
            ends = [BootMark(name, icache, app, e).encode() for e in (False, True)
                    if icache is not None]  # fmt: skip
            lines += [*ends[:1], *encoded(app, own), f"kernel: {app} exited", *ends[1:]]
    return lines


def slower(record: str, more: int) -> str:
    """Change the cycles of a record, so that a row under the wrong boot is visible."""
    if not record.startswith("data cycles"):
        return record
    return re.sub(r"(?<![*\d])\d+", lambda match: str(int(match[0]) + more), record)


def rows_of_ours(lines: Lines, catalogue: Catalogue) -> Rows:
    measured = assemble(decode(lines))
    if len(lines) % 20 == 0:  # slow
        loads(build(measured, catalogue))  # the remaining rows can be written
    return {
        (
            boot.name,
            boot.icache,
            app.lang,
            app.name,
            row.id,
            frozenset(row.params.items()),
        ): series_in(row)
        for boot, app in measured.each()
        for row in app.rows
    }


def loads(result: Result) -> None:
    """Check that a result can be written and that it is read back unchanged."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "r.json"
        path.write_text(text(result), encoding="utf-8")
        assert load(path) == result


def drop(rng: random.Random, lines: Lines) -> None:
    del lines[rng.randrange(len(lines))]


def twice(rng: random.Random, lines: Lines) -> None:
    at = rng.randrange(len(lines))
    lines.insert(at, lines[at])


def swap(rng: random.Random, lines: Lines) -> None:
    at = rng.randrange(len(lines) - 1)
    lines[at : at + 2] = lines[at + 1], lines[at]


def tear(rng: random.Random, lines: Lines) -> None:
    """Lose the end of a line; the next line, or a message of the kernel, follows at once."""
    at = rng.randrange(len(lines) - 1)
    kept = lines[at][: rng.randrange(len(lines[at]) + 1)]
    lines[at : at + 2] = [kept + rng.choice(["kernel: panic", f"x{lines[at + 1]}"])]


def garble(rng: random.Random, lines: Lines) -> None:
    """Change or insert a byte."""
    at = rng.randrange(len(lines))
    index = rng.randrange(len(lines[at]) + 1)
    new = rng.choice(BYTES)
    lines[at] = lines[at][:index] + new + lines[at][index + rng.randrange(2) :]


def stop(rng: random.Random, lines: Lines) -> None:
    del lines[rng.randrange(1, len(lines)) :]


def lose(rng: random.Random, lines: Lines) -> None:
    """Lose a piece that may start and end within lines."""
    at = rng.randrange(len(lines) - 1)
    end = min(at + rng.randrange(1, 30), len(lines) - 1)
    tail = lines[end][rng.randrange(len(lines[end]) + 1) :]
    lines[at : end + 1] = [lines[at][: rng.randrange(len(lines[at]) + 1)] + tail]


def reboot(rng: random.Random, lines: Lines) -> None:
    """Reset the board: a boot stops somewhere and starts again."""
    at = rng.randrange(1, len(lines))
    begins = [n for n, line in enumerate(lines[:at]) if re.match(r"#tm 0 \w+ begin ", line)]
    if begins:
        lines[at:at] = ["kernel: started", *lines[begins[-1] : at]]


def digits(rng: random.Random, lines: Lines) -> None:
    """Change, insert or delete digits."""
    at = rng.randrange(len(lines))
    places = [index for index, letter in enumerate(lines[at]) if letter.isdigit()]
    if places:
        index = rng.choice(places)
        new = rng.choice(["", str(rng.randrange(10)), str(rng.randrange(100))])
        lines[at] = lines[at][:index] + new + lines[at][index + 1 :]


BLUNT: list[Damage] = [drop, twice, swap, garble, stop]


RESETS: list[Damage] = [reboot, reboot]


@pytest.mark.parametrize(
    ("whole", "damages"),
    [
        (ours(marked=False), []),
        (ours(marked=True), []),
        (ours(True, "c", "rust"), []),
        (ours_named(False), RESETS),
        (ours_named(True), RESETS),
    ],
    ids=[
        "plain",
        "with boot lines",
        "in two languages",
        "with named boots",
        "with named boots and boot lines",
    ],
)
def test_surviving_rows_of_a_damaged_log_are_right(
    whole: Lines,
    damages: list[Damage],
    catalogue: Catalogue,
    record_property: RecordProperty,
    request: pytest.FixtureRequest,
) -> None:
    right = rows_of_ours(whole, catalogue)
    assert right
    every = [
        (key[2:], name, samples)
        for key, series in right.items()
        for name, samples in series.items()
    ]
    touched = 0
    for seed in range(COUNT):
        rng = random.Random(seed)
        lines = list(whole)
        for _ in range(rng.choice([1, 1, 1, 2, 4])):
            if len(lines) > 2:
                rng.choice([*BLUNT, tear, lose, digits, *damages])(rng, lines)
        damaged = rows_of_ours(lines, catalogue)
        touched += damaged != right
        has_no_lang = None in {key[0] for key in right}
        has_no_lang = has_no_lang or any(
            "#end" in line for line in lines
        )  # the log may have no language
        for key, series in damaged.items():
            for name, samples in series.items():
                if has_no_lang and key in right:
                    assert samples == right[key].get(name), f"seed {seed}: {key} {name}"
                else:  # unknown boot
                    assert key[0] is None or not has_no_lang, f"seed {seed}: {key}"
                    assert (key[2:], name, samples) in every, f"seed {seed}: {key} {name}"
    assert touched > COUNT / 4
    came = {"lost rows or samples": touched, "kept all rows whole": COUNT - touched}
    what = f"damaged logs: {request.node.callspec.id}"
    record_tries(record_property, what, COUNT, range(COUNT), came)


def test_any_bytes_give_a_result_or_one_line(
    tmp_path: Path, catalogue: Catalogue, record_property: RecordProperty
) -> None:
    path = tmp_path / "any.log"
    whole = "\n".join(ours(True)).encode()
    refused = 0
    for seed in range(COUNT // 10):
        rng = random.Random(seed)
        content = bytearray(whole)
        for _ in range(rng.randrange(1, 60)):
            content[rng.randrange(len(content))] = rng.randrange(256)
        path.write_bytes(bytes(content) if seed % 3 else rng.randbytes(rng.randrange(2000)))
        try:
            result = parse(path, catalogue)
        except TockmarkError as error:
            shown = str(error)
            refused += 1
        else:
            loads(result)
            shown = ""
        assert len(shown.splitlines()) <= 1, f"seed {seed}"
    came = {"refused in one line": refused, "parsed into a result": COUNT // 10 - refused}
    record_tries(record_property, "logs with random bytes", COUNT // 10, range(COUNT // 10), came)


def test_time_is_proportional_to_the_length_of_the_log(
    tmp_path: Path, catalogue: Catalogue
) -> None:
    """Samples that never repeat: rows of 10000, 5 samples per line; at most 200,000."""
    short, long = long_log(tmp_path, 5), long_log(tmp_path, 20)
    times = seconds(lambda: parse(short, catalogue)), seconds(lambda: parse(long, catalogue))
    assert times[1] < 2 * 4 * times[0]
    result = parse(long, catalogue)
    assert sum(len(row.cycles.samples) for row in result.rows if row.cycles) == 200_000
    assert result.problems == ()


def long_log(folder: Path, rows: int) -> Path:
    rng = random.Random(1)
    texts = ["begin proto=1 lang=c abi=2 apps=1 perf=0x90010"]
    for k in range(rows):
        texts += [f"bench made.up k={k} inner=1 n=10000", "data cycles"]
        samples = [str(rng.randrange(1000, 60000)) for _ in range(10000)]
        texts += [" ".join(["+", *samples[at : at + 5]]) for at in range(0, 10000, 5)]
    lines = [UartLine(seq, "made", text).encode() for seq, text in enumerate([*texts, "end ok"])]
    assert max(map(len, lines)) < LINE_LIMIT
    path = folder / f"{rows}.log"
    path.write_text("\n".join([*lines, ""]))
    return path
