# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Input eight times as long is read in about eight times the time, for all formats."""

from collections.abc import Callable
from functools import partial

import pytest

from tockmark.result.build import build
from tockmark.suite.catalogue import load
from tockmark.tests.conftest import seconds
from tockmark.wire.boots import assemble
from tockmark.wire.records import Mark, decode, parse_record
from tockmark.wire.uart_line import UartLine


def _ours(records: list[str]) -> None:
    lines = (UartLine(seq, "app", text).encode() for seq, text in enumerate(records))
    build(assemble(decode(lines)), CATALOGUE)


def _marked(rows: list[str], name: str) -> None:
    """Read rows by the simulator's clock, with its marks between them."""
    lines = [Mark(0, 0, "reset").encode()]
    for seq, text in enumerate([BEGIN, *rows]):
        lines += [Mark(0, seq, name).encode(), UartLine(seq, "app", text).encode()]
    assemble(decode(lines))


def _boots(n: int) -> None:
    """Read boots with different names, one after another, and all of them a second time."""
    lines_of_apps = [f"begin proto=1 apps=1 boot=b{i} image=0000000a" for i in range(n)] * 2
    lines = [
        UartLine(seq, "app", text)
        for line in lines_of_apps
        for seq, text in enumerate([line, "end ok"])
    ]
    assemble(decode(line.encode() for line in lines))


CATALOGUE = load()
BEGIN = "begin proto=1 apps=1"
SIM = "inner=1 n=1 clock=sim"

READ: dict[str, Callable[[int], object]] = {
    "words of a record": lambda n: parse_record("app", "data cycles" + " 1" * n, 1),
    "pairs of a record": lambda n: parse_record("app", "bench x" + " a=1" * n, 1),
    "lines of one record": lambda n: _ours([BEGIN, "data cycles", *["+ 1 2 3"] * n, "end ok"]),
    "records": lambda n: _ours(
        [BEGIN, *(f"bench app.x i={i} inner=1 n=1" for i in range(n)), "end ok"]
    ),
    "failures": lambda n: _ours(
        [BEGIN, *(f"fail app.x i={i} call=a err=B" for i in range(n)), "end ok"]
    ),
    "rows of no data": lambda n: _ours(
        [BEGIN, *(f"bench x.{i} inner=1 n=1" for i in range(n)), "end ok"]
    ),
    "rows by marks": lambda n: _marked([f"bench x.{i} {SIM} from=a to=b" for i in range(n)], "a"),
    "rows from reset": lambda n: _marked(
        [f"bench x.{i} {SIM} from=reset to=b" for i in range(n)], "a"
    ),
    "boots": _boots,
    "noise": lambda n: assemble(decode(["#tm " * n])),
}


def in_proportion(read: Callable[[int], object]) -> bool:
    """Return whether input eight times as long takes at most about eight times as long."""
    size = 250
    while (time := seconds(partial(read, size))) < 0.01 and size < 64000:  # too short to compare
        size *= 2
    for _ in range(5):  # other processes may disturb a try
        time = seconds(partial(read, size))
        if seconds(partial(read, 8 * size)) < 24 * max(time, 0.005):
            return True
    return False


@pytest.mark.parametrize("input_type", READ)
def test_eight_times_as_much_takes_eight_times_as_long(input_type: str) -> None:
    assert in_proportion(READ[input_type])
