# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Faults in transfers from a board. Bytes are dropped, flipped, repeated, moved, cut or mixed in:
no row may get other numbers, and missing rows must be named.

The streams come from our log; some name their image. Each goes through a pseudo-terminal into the
serial target. Seeds are fixed, so a fault that was found stays found. TOCKMARK_FAULTS sets the
number of streams."""

import os
import random
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import pytest

from tockmark.base.errors import INCOMPLETE, OK
from tockmark.base.paths import ROOT
from tockmark.cli.options import incomplete_code, print_first
from tockmark.result.build import Expected, build
from tockmark.result.model import Result, Row
from tockmark.suite import catalogue as catalogues
from tockmark.suite.catalogue import Boot, row_key
from tockmark.suite.selection import Selection
from tockmark.tests.test_serial import HELLO, OTHER, OWN, boot_lines, sent
from tockmark.tests.wire import session
from tockmark.wire.boots import assemble
from tockmark.wire.records import BootMark, decode, decode_boot_mark
from tockmark.wire.uart_line import UartLine, decode_line

LOG = ROOT / "tools/tockmark/tests/four-boots.log"  # a log of our kernel, written by `run`
RECORDED = ("time", "loop", "call")  # its boots, cache on
FAULTS = int(os.environ.get("TOCKMARK_FAULTS", "400"))  # number of damaged streams
KNOWN = catalogues.load()


@dataclass(frozen=True)
class Stream:
    """The bytes that a board sends in one boot."""

    boot: Boot
    image: str | None
    lines: tuple[str, ...]

    @property
    def data(self) -> bytes:
        return sent(*self.lines)

    def result(self, lines: Iterable[str], notes: Sequence[str] = ()) -> Result:
        """Return the result that `run` would make of these lines."""
        marks = [BootMark(self.boot.name, True, self.boot.group, ends) for ends in (False, True)]
        log = [marks[0].encode(), *lines, marks[1].encode()]
        # As the log's reader decodes them.
        whole = "".join(f"{line}\n" for line in log).splitlines()
        expected = [Expected(self.boot, True)]
        return build(assemble(decode(whole)), KNOWN, None, expected, Selection(KNOWN), notes)


def recorded() -> list[Stream]:
    """Return the boots of the log."""
    recorded_rows: dict[str, list[str]] = {}
    inside: list[str] = []
    for line in LOG.read_text(encoding="latin-1").splitlines():
        mark = decode_boot_mark(line)
        if mark is None:
            inside.append(line)
        elif mark.ends:
            recorded_rows.setdefault(mark.name, inside)
        else:
            inside = []
    boots = {boot.name: boot for boot in KNOWN.boots()}
    return [Stream(boots[name], None, tuple(recorded_rows[name])) for name in RECORDED]


def named_stream() -> Stream:
    """Return a stream that names its image."""
    (boot,) = (boot for boot in KNOWN.boots() if boot.name == "loop")
    return Stream(boot, OWN, (HELLO, *boot_lines()))


STREAMS = [*recorded(), named_stream()]

Damage = Callable[[bytes, random.Random], bytes]


def random_slice(data: bytes, rng: random.Random, most: int) -> tuple[int, int]:
    """Return start and end of a random slice of at most `most` bytes."""
    start = rng.randrange(len(data))
    return start, min(len(data), start + rng.randint(1, most))


def dropped(data: bytes, rng: random.Random) -> bytes:
    start, end = random_slice(data, rng, rng.choice([1, 10, 200]))
    return data[:start] + data[end:]


def flipped(data: bytes, rng: random.Random) -> bytes:
    damaged = bytearray(data)
    for _ in range(rng.choice([1, 3, 30])):
        damaged[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
    return bytes(damaged)


def digits(data: bytes, rng: random.Random) -> bytes:
    """Change numbers in lines that are otherwise intact."""
    damaged = bytearray(data)
    places = [at for at, byte in enumerate(data) if chr(byte).isdigit()]
    for at in rng.sample(places, rng.choice([1, 2, 5])):
        damaged[at] = ord(rng.choice("0123456789"))
    return bytes(damaged)


def repeated(data: bytes, rng: random.Random) -> bytes:
    start, end = random_slice(data, rng, rng.choice([1, 60, 600]))
    return data[:end] + data[start:end] + data[end:]


def moved(data: bytes, rng: random.Random) -> bytes:
    """Move a piece to a later position."""
    start, end = random_slice(data, rng, rng.choice([1, 60, 600]))
    rest = data[:start] + data[end:]
    at = rng.randint(start, len(rest))
    return rest[:at] + data[start:end] + rest[at:]


def lines_damaged(data: bytes, rng: random.Random) -> bytes:
    """Lose, double or swap whole lines."""
    lines = data.splitlines(keepends=True)
    at = rng.randrange(len(lines) - 1)
    pair = lines[at : at + 2]
    lines[at : at + 2] = rng.choice([pair[:1], [], [*pair, pair[0]], pair[::-1], [pair[0], *pair]])
    return b"".join(lines)


def cut(data: bytes, rng: random.Random) -> bytes:
    return data[: rng.randrange(len(data))]


def mixed(data: bytes, rng: random.Random) -> bytes:
    """Insert noise."""
    at = rng.randrange(len(data))
    return data[:at] + rng.randbytes(rng.choice([1, 20, 700])) + data[at:]


def rebooted(data: bytes, rng: random.Random) -> bytes:
    """Reset in the middle, once or twice."""
    starts = [data[: rng.randrange(len(data))] for _ in range(rng.randint(1, 2))]
    return b"".join(starts) + data


def behind_another(data: bytes, rng: random.Random) -> bytes:
    """Put another boot of the same app, or only its end, in front."""
    other = sent(*boot_lines(image=OTHER, boot="other"))
    return other[rng.choice([0, rng.randrange(len(other))]) :] + data


DAMAGES: list[Damage] = [
    dropped, flipped, digits, repeated, moved, lines_damaged, cut, mixed, rebooted
]  # fmt: skip


def numbers(row: Row) -> dict[str, tuple[int, ...]]:
    """Return all samples of a row."""
    samples_by_name = {f"event {n}": event.samples for n, event in row.events.items()}
    for name in ("cycles", "instret"):
        series = row.series(name)
        if series is not None:
            samples_by_name[name] = series.samples
            if series.slope is not None:
                samples_by_name[f"short {name}"] = series.slope.short
                samples_by_name[f"long {name}"] = series.slope.long
    return samples_by_name


def check(stream: Stream, clean: Result, faulty: Result) -> bool:
    """Compare a result with the result of the undamaged stream. Return whether anything is
    missing."""
    rows = {row_key(row.id, row.params): numbers(row) for row in clean.rows}
    got = {}
    for row in faulty.rows:
        key = row_key(row.id, row.params)
        for name, samples in numbers(row).items():
            assert samples == rows[key][name], f"{row.label}: {name}"
        if row.icache is not None:  # rows of an unknown setting are not compared
            got[key] = numbers(row)
    is_missing = got != rows
    assert not is_missing or faulty.incomplete
    print_first(faulty.incomplete)
    assert incomplete_code(faulty) == (INCOMPLETE if faulty.incomplete else OK)
    return is_missing


@pytest.mark.parametrize("stream", STREAMS, ids=lambda stream: f"{stream.boot.name}-{stream.image}")
def test_no_fault_becomes_a_wrong_number(
    stream: Stream, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    clean = stream.result(stream.lines)
    assert clean.rows
    damages = [*DAMAGES, behind_another] if stream.image else DAMAGES
    lost = 0
    for seed in range(FAULTS // len(STREAMS)):
        rng = random.Random(f"{stream.boot.name} {seed}")
        data = stream.data
        for damage in rng.choices(damages, k=rng.choice([1, 1, 2, 4])):
            data = damage(data, rng) if len(data) > 100 else data
        with session(monkeypatch, late(data, rng), stream.image, stream.boot.name) as boot:
            lines = list(boot.lines())
            ending = boot.ending().why
        lost += check(stream, clean, stream.result(lines, [ending] if ending else []))
    assert lost > FAULTS // len(STREAMS) // 4  # some streams lost rows


def late(data: bytes, rng: random.Random) -> list[bytes | Callable[[], None]]:
    """Send the stream in pieces, some of them after pauses."""
    at = sorted(rng.choices(range(len(data) + 1), k=rng.randint(0, 5)))
    pieces: list[bytes | Callable[[], None]] = []
    for start, end in zip([0, *at], [*at, len(data)], strict=True):
        pieces += [data[start:end], lambda: time.sleep(0.001)]
    return pieces


@pytest.mark.parametrize("stream", STREAMS, ids=lambda stream: f"{stream.boot.name}-{stream.image}")
def test_undamaged_streams_arrive_complete(stream: Stream, monkeypatch: pytest.MonkeyPatch) -> None:
    with session(monkeypatch, [stream.data], stream.image, stream.boot.name) as boot:
        assert tuple(boot.lines()) == stream.lines
        assert boot.ending().why is None
    assert not check(stream, stream.result(stream.lines), stream.result(stream.lines))


def test_the_check_detects_a_wrong_number() -> None:
    stream = STREAMS[0]
    clean = stream.result(stream.lines)
    changed = next(i for i, line in enumerate(stream.lines) if " data cycles" in line)
    line = decode_line(stream.lines[changed])
    assert line is not None
    word = line.text.split(" ")[2]  # the first sample
    forged = UartLine(line.seq, line.app, line.text.replace(word, f"1{word}", 1)).encode()
    lines = [*stream.lines[:changed], forged, *stream.lines[changed + 1 :]]
    with pytest.raises(AssertionError):
        check(stream, clean, stream.result(lines))
