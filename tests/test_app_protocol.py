# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The apps' side of the UART protocol (apps/runtime/protocol.c, series.c), compiled for the host.

The output of the C code is decoded by an independent decoder in this file, and by the tool's.
"""

import binascii
import ctypes
import re
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tockmark.wire import records

RUNTIME = Path(__file__).parents[1] / "apps" / "runtime"
LINE = re.compile(rb"#tm (\d+) ([a-z][a-z0-9_]*) (.+) \*([0-9a-f]{4})\n")
LINE_MAX, LINES_MAX, WORD_MAX, WINDOW, PERIOD_MAX = 64, 8, 32, 8, 4
WRITE = ctypes.CFUNCTYPE(None, ctypes.POINTER(ctypes.c_char), ctypes.c_uint32)

U32 = st.integers(0, 2**32 - 1)
APP = st.from_regex(r"[a-z][a-z0-9_]{0,11}", fullmatch=True)
PRINTABLE = "".join(chr(c) for c in range(0x21, 0x7F) if chr(c) not in '"~=')
WORDS = st.lists(st.text(PRINTABLE, min_size=1, max_size=WORD_MAX), min_size=1, max_size=30)


class Out(ctypes.Structure):
    """struct tm_out."""

    _fields_ = (
        ("app", ctypes.c_char_p),
        ("write", WRITE),
        ("seq", ctypes.c_uint32),
        ("whole", ctypes.c_uint32),
        ("used", ctypes.c_uint32),
        ("empty", ctypes.c_bool),
        ("text", ctypes.c_char * (LINES_MAX * LINE_MAX)),
    )


@dataclass
class Printer:
    """An encoder for the output of an app, in C."""

    code: ctypes.CDLL

    def record(
        self, app: str, fill: Callable[[ctypes.CDLL, Out], None], kind: str = "k", seq: int = 0
    ) -> list[bytes]:
        """Return the lines of a record: its kind, and the words that `fill` adds."""
        return of_writes(self.writes(app, [(kind, fill)], seq))

    def writes(
        self, app: str, records: list[tuple[str, Callable[[ctypes.CDLL, Out], None]]], seq: int = 0
    ) -> list[bytes]:
        """Return the writes of records that are sent together."""
        lines: list[bytes] = []
        write = WRITE(lambda text, length: lines.append(text[:length]))
        out = Out(app=app.encode(), write=write, seq=seq)
        for number, (kind, fill) in enumerate(records):
            if number:
                self.code.tm_record_and_next(ctypes.byref(out))
            self.code.tm_record(ctypes.byref(out), kind.encode())
            fill(self.code, out)
        self.code.tm_record_end(ctypes.byref(out))
        return lines


def of_writes(writes: list[bytes]) -> list[bytes]:
    """Return the lines in writes, without their padding. A console sends 64 bytes at a time, and
    each such piece must be a line."""
    lines = []
    for text in writes:
        pieces = [text[at : at + LINE_MAX] for at in range(0, len(text), LINE_MAX)]
        assert len(pieces) <= LINES_MAX
        assert all(piece.index(b"\n") == len(piece) - 1 for piece in pieces)
        lines += [piece[:-1].rstrip(b" ") + b"\n" for piece in pieces]
    assert all(len(text) == LINES_MAX * LINE_MAX for text in writes[:-1])
    assert not writes[-1].endswith(b" \n")
    return lines


@pytest.fixture(scope="session")
def printer(tmp_path_factory: pytest.TempPathFactory) -> Printer:
    library = tmp_path_factory.mktemp("host") / "protocol.so"
    sources = [str(RUNTIME / name) for name in ("protocol.c", "series.c")]
    strict = ["-std=c11", "-Wall", "-Wextra", "-Werror", "-O1"]
    subprocess.run(["gcc", *strict, "-shared", "-fPIC", *sources, "-o", str(library)], check=True)
    code = ctypes.CDLL(str(library))
    code.tm_crc16.argtypes = [ctypes.c_char_p, ctypes.c_size_t]
    code.tm_crc16.restype = ctypes.c_uint16
    code.tm_series_repeats.restype = ctypes.c_bool
    return Printer(code)


def read_back(lines: list[bytes], app: str, seq: int = 0) -> str:
    """Return the record in these lines, after checking each line as documented."""
    texts = []
    for number, line in enumerate(lines):
        assert len(line) <= LINE_MAX
        match = LINE.fullmatch(line)
        assert match, line
        assert match[1] == str(seq + number).encode()
        assert match[2] == app.encode()
        assert b"  " not in line
        assert int(match[4], 16) == binascii.crc_hqx(line[: line.rindex(b"*")], 0xFFFF)
        text = match[3].decode("ascii")
        assert text.startswith("+ ") == (number > 0)
        texts.append(text.removeprefix("+ "))
    return " ".join(texts)


def series(values: list[int]) -> Callable[[ctypes.CDLL, Out], None]:
    """Return a function that adds a series with its values in every second word, like samples."""
    words = (ctypes.c_uint32 * (2 * len(values)))(*[w for value in values for w in (value, 0)])
    return lambda code, out: code.tm_record_series(ctypes.byref(out), words, 2, len(values))


def runs(text: str) -> list[int]:
    """Return the samples in the runs of a data record."""
    samples: list[int] = []
    for word in text.split(" "):
        group, star, times = word.partition("*")
        assert not star or int(times) > 1
        if group.startswith("("):
            assert group.endswith(")")
            assert 2 <= group.count(",") + 1 <= PERIOD_MAX
        samples += [int(value) for value in group.strip("()").split(",")] * int(times or 1)
    return samples


@given(data=st.binary(max_size=100).filter(lambda data: b"\0" not in data))
def test_the_crc_is_the_standard_one(printer: Printer, data: bytes) -> None:
    assert printer.code.tm_crc16(data, len(data)) == binascii.crc_hqx(data, 0xFFFF)


@given(app=APP, words=WORDS, seq=st.integers(0, 90_000))
def test_a_record_of_any_length_is_decoded(
    printer: Printer, app: str, words: list[str], seq: int
) -> None:
    text = " ".join(words)
    lines = printer.record(
        app, lambda code, out: code.tm_record_words(ctypes.byref(out), text.encode()), seq=seq
    )
    assert read_back(lines, app, seq) == f"k {text}"


# Without the words that mark where the second record begins.
OTHERS = WORDS.filter(lambda words: not {"+", "data"} & set(words))


@given(app=APP, first=OTHERS, second=OTHERS)
def test_records_that_are_sent_together_are_decoded(
    printer: Printer, app: str, first: list[str], second: list[str]
) -> None:
    def add_words(words: list[str]) -> Callable[[ctypes.CDLL, Out], None]:
        text = " ".join(words).encode()
        return lambda code, out: code.tm_record_words(ctypes.byref(out), text)

    writes = printer.writes(app, [("bench", add_words(first)), ("data", add_words(second))])
    lines = of_writes(writes)
    assert len(writes) == -(-len(lines) // LINES_MAX)
    at = next(i for i, line in enumerate(lines) if b" data " in line and b" + " not in line)
    assert read_back(lines[:at], app) == f"bench {' '.join(first)}"
    assert read_back(lines[at:], app, at) == f"data {' '.join(second)}"


REPEATING = st.lists(
    st.tuples(
        st.lists(st.one_of(st.integers(0, 3), U32), min_size=1, max_size=6), st.integers(1, 40)
    ),
    min_size=1,
    max_size=8,
).map(lambda parts: [value for group, times in parts for value in group * times])


@given(values=st.one_of(REPEATING, st.lists(U32, min_size=1, max_size=200)))
def test_a_series_is_decoded(printer: Printer, values: list[int]) -> None:
    record = read_back(printer.record("app", series(values), "data cycles"), "app")
    assert runs(record.removeprefix("data cycles ")) == values


@given(values=REPEATING)
def test_the_tool_reads_what_an_app_prints(printer: Printer, values: list[int]) -> None:
    lines = printer.record("app", series(values), "data cycles")
    lines += printer.record("app", lambda code, out: None, "end ok", seq=len(lines))
    data, end = records.decode(line.decode() for line in lines)
    assert isinstance(data, records.Record)
    assert isinstance(end, records.Record)
    assert (data.kind, data.words[0], end.kind) == ("data", "cycles", "end")
    assert records.expand(" ".join(data.words[1:])) == tuple(values)


@given(
    samples=st.lists(st.tuples(st.integers(0, 1), st.integers(0, 1)), max_size=30)
    | st.tuples(
        st.lists(st.tuples(U32, U32), max_size=3),
        st.lists(st.tuples(U32, U32), min_size=1, max_size=6),
    ).map(lambda parts: parts[0] + parts[1] * 8)
)
def test_a_series_repeats_only_from_its_first_sample_on(
    printer: Printer, samples: list[tuple[int, int]]
) -> None:
    expected = len(samples) >= WINDOW and any(
        all(samples[i] == samples[i % period] for i in range(len(samples)))
        for period in range(1, PERIOD_MAX + 1)
    )
    words = (ctypes.c_uint32 * (2 * len(samples)))(*[word for pair in samples for word in pair])
    assert printer.code.tm_series_repeats(words, len(samples)) == expected
