# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The protocol: encoded records are decoded, and damaged records are not."""

import random
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tockmark.base.paths import ROOT
from tockmark.tests.conftest import RECORDS, encoded
from tockmark.tests.encoder import Encoder
from tockmark.wire.boots import assemble
from tockmark.wire.records import (
    BootMark,
    Mark,
    Problem,
    Record,
    compress,
    decode,
    expand,
    parse_record,
)
from tockmark.wire.uart_line import LINE_LIMIT, as_text, crc16, decode_line

samples = st.lists(st.one_of(st.integers(0, 3), st.integers(0, 2**32 - 1)), min_size=1, max_size=60)
CHATTER = ["tock: a message", "#", "#tmx 1", "", "panic: #t"]


def records_of(lines: list[str]) -> list[Record]:
    return [item for item in decode(lines) if isinstance(item, Record)]


def test_crc_is_ccitt_false() -> None:
    assert crc16(b"123456789") == 0x29B1  # the published check value of this CRC


def test_a_line_has_the_documented_format() -> None:
    head = b"#tm 0 mem end ok "
    assert Encoder("mem").lines("end ok") == [f"{head.decode()}*{crc16(head):04x}"]


@given(samples)
def test_runs_are_decoded(values: list[int]) -> None:
    assert expand(compress(values)) == tuple(values)


@pytest.mark.parametrize(
    ("runs", "values"),
    [("7", (7,)), ("7*3", (7, 7, 7)), ("1 (2,3)*2", (1, 2, 3, 2, 3)), ("(1,2,3,4)", (1, 2, 3, 4))],
)
def test_runs_have_the_documented_format(runs: str, values: tuple[int, ...]) -> None:
    assert expand(runs) == values


@pytest.mark.parametrize(
    "runs",
    [
        "",
        "-1",
        "1*0",
        "1*",
        "(1)*2",
        "(1,2,3,4,5)*2",
        "1,2",
        "x",
        "4294967296",
        "1*9999999",
        "1  2",
    ],
)
def test_invalid_runs_are_refused(runs: str) -> None:
    with pytest.raises(ValueError, match=r"run|fit|samples"):
        expand(runs)


@given(samples, st.lists(st.sampled_from(CHATTER), max_size=5), st.randoms())
def test_records_are_decoded_among_kernel_messages(
    values: list[int], chatter: list[str], rng: random.Random
) -> None:
    texts = ["bench a.b size=4 inner=1 n=60", f"data cycles {compress(values)}", "end ok"]
    lines = encoded("a", texts)
    assert all(len(line) + 1 <= LINE_LIMIT for line in lines)
    for message in chatter:
        lines.insert(rng.randint(0, len(lines)), message)
    bench, data, end = records_of(lines)
    assert (bench.words, bench.pairs) == (
        ("a.b",),
        (("size", "4"), ("inner", "1"), ("n", "60")),
    )
    assert expand(" ".join(data.words[1:])) == tuple(values)
    assert end.words == ("ok",)


def test_a_message_without_newline_does_not_hide_a_line() -> None:
    line = Encoder("a").lines("end ok")[0]
    assert decode_line(f"waiting... #tm 1 {line}\r\n") == decode_line(line)


@given(st.data())
def test_damage_never_gives_another_record(data: st.DataObject) -> None:
    """Change, cut, lose, repeat or move a line: every decoded record was sent."""
    lines = encoded("mem", RECORDS["mem"])
    sent = {(r.kind, r.words, r.pairs) for r in records_of(lines)}
    at = data.draw(st.integers(0, len(lines) - 1))
    line = lines[at]
    damage = data.draw(st.sampled_from(["alter", "tear", "lose", "double", "swap", "splice"]))
    if damage == "alter":
        position = data.draw(st.integers(0, len(line) - 1))
        byte = data.draw(st.characters(codec="latin-1").filter(lambda c: c != line[position]))
        lines[at] = line[:position] + byte + line[position + 1 :]
    elif damage == "tear":
        lines[at] = line[: data.draw(st.integers(0, len(line) - 1))]
    elif damage == "lose":
        del lines[at]
    elif damage == "double":
        lines.insert(at, line)
    elif damage == "swap":
        other = data.draw(st.integers(0, len(lines) - 1).filter(lambda i: i != at))
        lines[at], lines[other] = lines[other], line
    else:  # the newline is lost
        lines[at : at + 2] = ["".join(lines[at : at + 2])]
    items = decode("\n".join(lines).split("\n"))
    kept = {(r.kind, r.words, r.pairs) for r in items if isinstance(r, Record)}
    assert kept <= sent
    if damage != "splice" or at == len(lines):
        assert any(isinstance(item, Problem) for item in items) or kept == sent


@given(st.binary(max_size=400))
def test_noise_gives_no_record(noise: bytes) -> None:
    assert not records_of(noise.decode("latin-1").split("\n"))


def test_a_record_without_a_continuation_is_dropped() -> None:
    values = " ".join(str(10**8 + i) for i in range(11))
    lines = encoded("a", ["bench a.b inner=1 n=99", f"data cycles {values}", "end ok"])
    assert len(lines) == 5
    del lines[3]  # the last part of the data
    items = decode(lines)
    assert [r.kind for r in items if isinstance(r, Record)] == ["bench", "end"]
    assert "lost line 3; with it 'data cycles'" in str(items[1])


def test_the_last_record_of_a_cut_log_is_dropped() -> None:
    lines = encoded("a", ["bench a.b inner=1 n=99", "data cycles 1*5"])
    items = decode(lines)
    assert [r.kind for r in items if isinstance(r, Record)] == ["bench"]
    assert any("'end'" in str(item) for item in items)


def test_only_a_begin_with_number_0_restarts_an_app() -> None:
    late = Encoder("a")
    lines = late.lines("bench a.b inner=1 n=99") + late.lines("begin proto=1 apps=1")
    gap, *_ = decode(lines[1:])
    assert "lost line 0" in str(gap)
    again = Encoder("a").lines("bench a.c inner=1 n=99")
    assert any("repeated" in str(item) for item in decode(lines + again))


@pytest.mark.parametrize("text", ['bench a cc="x"y', "bench a =1", 'bench "a'])
def test_invalid_records_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"space|neither"):
        parse_record("a", text, 1)


def test_a_word_too_long_for_a_line_is_refused() -> None:
    with pytest.raises(ValueError, match="does not fit"):
        Encoder("a").lines("x" * 60)


def test_the_example_in_the_documentation_is_valid() -> None:
    page = (ROOT / "docs" / "contributing.md").read_text()
    example = [line.strip() for line in page.splitlines() if line.startswith("    ")]
    items = decode(example)
    kinds = [item.kind for item in items if isinstance(item, Record)]
    assert kinds == ["begin", "bench", "data", "end"]
    # The page also shows the formats of lines; these are not valid lines.
    assert [str(item).partition(": ")[2] for item in items if isinstance(item, Problem)] == [
        "damaged line: '#tm <seq> <app> <text> *<crc>'",
        "damaged line: '#boot <name> icache=on app=<app> [lang=<lang>] *<crc>'",
        "damaged line: '#end <name> icache=on app=<app> [lang=<lang>] *<crc>'",
        "damaged line: '#sim <cycle> <mark> *<crc>'",
    ]


@given(st.data())
def test_repeated_lines_change_nothing(data: st.DataObject) -> None:
    """Repeat any lines of several apps, boots and marks: the content is the same."""
    lines = [BootMark("a", True, "mem").encode(), *encoded("mem", RECORDS["mem"])]
    lines[3:3] = [Mark(0, 5, "irq").encode(), "kernel: a message", ""]
    lines += [BootMark("a", True, "mem", ends=True).encode()]
    lines += [BootMark("b", True, "loop").encode(), *encoded("loop", RECORDS["loop"])]
    lines += [BootMark("b", True, "loop", ends=True).encode()]
    twice = data.draw(st.sets(st.integers(0, len(lines) - 1)) | st.just(set(range(len(lines)))))
    doubled = [line for at, line in enumerate(lines) for _ in range(1 + (at in twice))]
    assert read(doubled) == read(lines)
    whole, repeated = assemble(decode(lines)), assemble(decode(doubled))
    assert not whole.problems
    assert not repeated.problems
    rows = [[(boot.name, *app.rows) for boot, app in each.each()] for each in (whole, repeated)]
    assert rows[0] == rows[1]
    assert all(len(each) > 1 for each in rows[0])


def read(lines: list[str]) -> list[object]:
    """Return the items of a log without their line numbers."""
    items = decode(lines)
    return [item if isinstance(item, BootMark) else replace(item, line=0) for item in items]


MARKS = [Mark(0, 5, "irq").encode(), *(BootMark("a", True, "a", e).encode() for e in (True, False))]


@given(st.sampled_from(MARKS), st.sampled_from(["", "x ", "\\", "\\ ", "#tm "]), st.data())
def test_an_app_cannot_print_a_mark(mark: str, before: str, data: st.DataObject) -> None:
    """Neither a whole mark nor a part, alone or after other text."""
    start, end = sorted(data.draw(st.integers(0, len(mark))) for _ in range(2))
    printed = as_text(before + mark[start:end])
    items = decode([printed])
    assert all(isinstance(item, Problem) and "#tm " in printed for item in items)
    line = encoded("a", ["bench a.b inner=1 n=1"])[0]
    assert decode_line(as_text(f"{mark}{line}")) == decode_line(line)
