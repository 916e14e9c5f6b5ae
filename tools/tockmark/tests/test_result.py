# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The result: its figures, the rows of its table, and its errors.

test_file.py tests its file.
"""

import errno
import os
from pathlib import Path

import pytest

from tockmark.base.errors import TockmarkError
from tockmark.base.files import write_whole
from tockmark.result import file
from tockmark.result.build import build
from tockmark.result.model import Reading, Result, Row, Series, ratio
from tockmark.suite.catalogue import Catalogue
from tockmark.suite.selection import Selection
from tockmark.tests.conftest import encoded
from tockmark.tests.of_samples import made, steady
from tockmark.wire.boots import assemble
from tockmark.wire.records import decode


def result_of(lines: list[str], catalogue: Catalogue) -> Result:
    return build(assemble(decode(lines)), catalogue)


def row(result: Result, id_: str, **params: int) -> Row:
    (match,) = (r for r in result.rows if (r.id, r.params) == (id_, params))
    return match


def test_a_whole_run_is_complete(log: list[str], catalogue: Catalogue, tmp_path: Path) -> None:
    result = result_of(log, catalogue)
    write_whole({tmp_path / "r.json": file.text(result)})
    assert file.load(tmp_path / "r.json") == result
    assert not result.incomplete
    assert all(row.sound for row in result.rows)


def test_the_overhead_of_the_same_app_is_subtracted(log: list[str], catalogue: Catalogue) -> None:
    loop = row(result_of(log, catalogue), "loop.empty")
    assert loop.cycles is not None
    assert (loop.cycles.median, loop.cycles.overhead, loop.net) == (3342, 341, 3001)
    assert loop.per_op == 3.001
    assert (loop.instructions, loop.instret and loop.instret.per_op) == (2003, 2.003)
    assert loop.cycles.samples == (4000, *[3341, 3343] * 5)
    assert loop.us is None  # a log alone has no clock


def test_all_counter_reads_of_a_sample_are_subtracted() -> None:
    reading = Reading((5, 5, 5), 5)
    assert Series((99, 40, 40, 40), reads=3, reading=reading).net == 25
    assert Series((99, 40, 40, 40), reads=0, reading=reading).net == 40
    assert Series((99, 40, 40, 40), inner=5, reads=1, reading=reading).per_op == 7


def test_a_negative_net_is_an_error_and_no_figure_uses_it(catalogue: Catalogue) -> None:
    result = made(catalogue, {"loop.empty": steady(-10), "a.x": steady(50)})
    loop, other = row(result, "loop.empty"), row(result, "a.x")
    assert (loop.net, loop.sound) == (-10, False)  # still shown
    assert loop.errors == ("net cycles is -10, below zero",)
    assert loop.unsound == loop.errors[0]
    assert any("loop.empty" in reason for reason in result.incomplete)
    assert ratio(loop, other) is ratio(other, loop) is ratio(None, other) is None
    assert ratio(other, other) == 1


def test_events_are_net_of_the_counter_reads(catalogue: Catalogue) -> None:
    records = ["begin proto=1 apps=1", "bench time.read inner=1 n=2", "data cycles 9*2"]
    rest = " ".join(["0*2"] * 7)
    records += ["data instret 5*2", f"data events 0*2 0*2 4*2 {rest}"]
    records += ["bench loop.empty inner=1000 n=2", "data cycles 20*2", "data instret 8*2"]
    records += [f"data events 0*2 0*2 (10,10) {rest}", "end ok"]
    events = row(result_of(encoded("loop", records), catalogue), "loop.empty").events
    assert (events[5].median, events[5].overhead, events[5].net) == (10, 4, 6)
    assert list(events) == list(range(3, 13))


def test_rows_of_both_cache_settings_are_separate(catalogue: Catalogue) -> None:
    result = made(catalogue, {"a.x n=1": steady(5)}, icache=(False, True))
    assert [row.name for row in result.table.values()] == [
        "time.read icache=off",
        "a.x n=1 icache=off",
        "time.read icache=on",
        "a.x n=1 icache=on",
    ]
    assert result.icaches == [True, False]
    only = result.only(Selection(catalogue, ("a.x icache=on",)))
    assert [row.name for row in only.rows] == ["a.x n=1 icache=on"]
    assert only.rows[0].net == 5  # the row keeps its overhead without the overhead row


def test_a_full_disk_leaves_the_old_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log, path = tmp_path / "r.log", tmp_path / "r.json"
    old, head = "#boot old", '{"format": "tockmark-result"'
    write_whole({log: old, path: head})
    calls: list[int] = []

    def full(handle: int) -> None:  # at the second file
        calls.append(handle)
        if len(calls) == 2:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(TockmarkError, match=r"r.json: No space"):
        write_whole({log: "#boot new", path: head + ","})
    assert (log.read_text(), path.read_text()) == (old, head)
    assert sorted(os.listdir(tmp_path)) == ["r.json", "r.log"]
