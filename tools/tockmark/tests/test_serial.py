# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Boots on a serial port: their lines, their ends, and the causes of silence."""

import re
from itertools import count

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tockmark.target import serial as ports
from tockmark.target.serial import Port
from tockmark.target.watch import Watch
from tockmark.tests.conftest import RECORDS, encoded
from tockmark.tests.wire import Clock, session

OWN, OTHER = "0000abcd", "0000ffff"
HELLO = "tockmark-kernel: baseline 0.1.0, apps: 1"


def boot_lines(app: str = "loop", image: str = OWN, boot: str | None = None) -> list[str]:
    """Return the output of an app."""
    begin, *between, end = RECORDS[app]
    begin = begin.replace(" cc=", f" boot={boot or app} image={image} cc=")
    return encoded(app, [begin, *between, f"{end} image={image}"])


def sent(*lines: str) -> bytes:
    """Return lines as a board sends them."""
    return "".join(f"{line}\r\n" for line in lines).encode("latin-1")


def test_a_boot_ends_with_its_suite(monkeypatch: pytest.MonkeyPatch) -> None:
    lines = [HELLO, *boot_lines()]
    with session(monkeypatch, [sent(*lines, "more")], OWN) as boot:
        assert list(boot.lines()) == lines
        assert boot.ending().why is None


def test_the_output_of_another_boot_is_ignored_and_reported(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    stale = boot_lines("mem", OTHER)
    pieces = [sent(*stale[3:], *stale, HELLO, *boot_lines())]
    with session(monkeypatch, pieces, OWN) as boot:
        assert list(boot.lines()) == [HELLO, *boot_lines()]
        assert boot.ending().why is None
    assert capsys.readouterr().err == "tockmark: this is the boot mem: load loop\n"


@pytest.mark.parametrize(
    ("pieces", "why"),
    [
        ([], "3600"),
        ([b"\xf3\x00\x9e" * 20], "115200"),
        ([b"\xf3\x00\x9e\n" * 20], "only noise arrived"),
        ([sent(HELLO)], "console"),
        ([sent(HELLO, *boot_lines()[:7])], "3600"),
        (
            [sent(HELLO, *boot_lines()[:-1])],
            f"no record for 3600 s after {len(boot_lines()) - 1} records",
        ),
        ([sent(*boot_lines("mem", OTHER))], "this is the boot mem; load loop"),
        ([sent(*encoded("loop", RECORDS["loop"]))], "unknown"),
    ],
)
def test_silence_is_reported_with_its_usual_cause(
    pieces: list[bytes], why: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with session(monkeypatch, pieces, OWN) as boot:
        list(boot.lines())
        ending = boot.ending().why
        assert ending is not None
        assert why in ending
        assert "\n" not in ending


@pytest.mark.parametrize(
    ("lines", "panic"),
    [
        (["tockmark-kernel: panic: it is over", "and more"], "tockmark-kernel: panic: it is over"),
        (["panicked at board.rs", "\tKernel version 2.2", "pc=1"], "panic: panicked at board.rs"),
    ],
)
def test_a_panic_ends_a_boot(lines: list[str], panic: str, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = [*boot_lines()[:5], *lines]
    with session(monkeypatch, [sent(*lines)], OWN) as boot:
        assert list(boot.lines()) == lines
        assert boot.ending().panicked
        assert panic in str(boot.ending().why)


@pytest.mark.parametrize(
    ("lines", "why"),
    [
        (["\xf3\x00\x9e"], "only noise arrived at 115200 baud"),
        ([HELLO], "no record for .* s, and before that only kernel messages"),
        ([HELLO, *boot_lines()[:4]], "the board was reset 11 times"),
    ],
)
def test_a_boot_ends_although_its_board_never_falls_silent(
    lines: list[str], why: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The causes are a wrong rate, another kernel, and repeated resets."""
    clock = count()
    monkeypatch.setattr(Port, "read", lambda port: (lines, 9))
    monkeypatch.setattr(Clock, "monotonic", lambda self: next(clock))
    with session(monkeypatch, [], OWN) as boot:
        for _ in boot.lines():
            pass
        assert re.match(why, boot.ending().why or "")


def test_a_boot_continues_when_its_port_comes_back(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """It is unplugged in the middle of a line."""
    wire = sent(*boot_lines())
    read = Port.read
    calls = []

    def unplugged(self: Port) -> tuple[list[str], int]:
        calls.append(self)
        if len(calls) == 3:
            raise ports.PortGoneError(self.path)
        return read(self)

    monkeypatch.setattr(Port, "read", unplugged)
    monkeypatch.setattr(ports, "_PIECE", 90)
    with session(monkeypatch, [wire], OWN) as boot:
        lines = list(boot.lines())
        assert boot.ending().why is None
    assert "".join(lines) == "".join(boot_lines())
    assert len(lines) == len(boot_lines()) + 1
    assert capsys.readouterr().err.count("60 s") == 1
    assert calls[0] is not calls[-1]


@pytest.mark.parametrize(("app", "over"), [("other", False), ("loop", True)])
def test_only_the_reporting_app_ends_a_boot(app: str, over: bool) -> None:
    watch = Watch(reporter="loop")
    for line in encoded(app, ["begin proto=1 apps=9", "end ok"]):
        watch.take(line)
    assert watch.over is over


@given(st.data())
def test_no_line_of_another_boot_is_logged(data: st.DataObject) -> None:
    """Lose, repeat and mix pieces of two boots with the same app."""
    own, other = boot_lines(), boot_lines(image=OTHER, boot="another")
    pieces = []
    for _ in range(data.draw(st.integers(1, 6))):
        lines = data.draw(st.sampled_from([own, other]))
        start = data.draw(st.integers(0, len(lines)))
        pieces.append((lines, lines[start : data.draw(st.integers(start, len(lines)))]))
    watch = Watch(OWN)
    current, before = None, ""
    for lines, piece in pieces:
        for line in piece:
            out = watch.take(line)
            if before == own[0]:  # if the begin lines are equal, the next line names the boot
                current = lines if line == lines[1] else None
            before = line
            if current is other and lines is other:
                assert out == []
            assert watch.began or not out
    assert not watch.over or own[-1] in [line for _, piece in pieces for line in piece]
