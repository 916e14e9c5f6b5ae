# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The result: what its figures mean, which rows stand for themselves, and what is wrong with it.

What its file may hold is test_file.py's.
"""

import errno
import os
from dataclasses import replace
from pathlib import Path

import pytest

from tockmark.errors import TockmarkError
from tockmark.files import write_whole
from tockmark.result import file
from tockmark.result.build import Context, build
from tockmark.result.model import Reading, Result, Row, Series, ratio
from tockmark.result.provenance import Board
from tockmark.suite.catalogue import Catalogue
from tockmark.suite.selection import Selection
from tockmark.tests.conftest import encoded
from tockmark.tests.of_samples import made, steady
from tockmark.wire.boots import assemble
from tockmark.wire.records import BootMark, decode


def result_of(lines: list[str], catalogue: Catalogue) -> Result:
    return build(assemble(decode(lines)), catalogue)


def row(result: Result, id_: str, **params: int) -> Row:
    (found,) = (r for r in result.rows if (r.id, r.params) == (id_, params))
    return found


def test_a_whole_run_is_complete(log: list[str], catalogue: Catalogue, tmp_path: Path) -> None:
    result = result_of(log, catalogue)
    write_whole({tmp_path / "r.json": file.text(result)})
    assert file.load(tmp_path / "r.json") == result
    assert not result.incomplete
    assert all(row.sound for row in result.rows)


def test_net_is_less_the_read_overhead_of_the_same_app(
    log: list[str], catalogue: Catalogue
) -> None:
    loop = row(result_of(log, catalogue), "loop.empty")
    assert loop.cycles is not None
    assert (loop.cycles.median, loop.cycles.overhead, loop.net) == (3342, 341, 3001)
    assert loop.per_op == 3.001
    assert (loop.instructions, loop.instret and loop.instret.per_op) == (2003, 2.003)
    assert loop.cycles.samples == (4000, *[3341, 3343] * 5)
    assert loop.us is None  # a bare log does not tell the clock


def test_time_and_bandwidth_need_the_clock(log: list[str], catalogue: Catalogue) -> None:
    context = Context(board=Board(clock_hz=24_000_000))
    copy = row(build(assemble(decode(log)), catalogue, context), "mem.copy_asm", size=64)
    assert copy.us == pytest.approx(96 / 24)
    assert copy.mb_per_s(64) == pytest.approx(16)
    assert copy.mb_per_s(None) is None


def test_several_readings_in_a_sample_all_come_off() -> None:
    reading = Reading((5, 5, 5), 5)
    assert Series((99, 40, 40, 40), reads=3, reading=reading).net == 25
    assert Series((99, 40, 40, 40), reads=0, reading=reading).net == 40
    assert Series((99, 40, 40, 40), inner=5, reads=1, reading=reading).per_op == 7


def test_a_negative_net_is_an_error_and_nothing_is_computed_from_it(catalogue: Catalogue) -> None:
    result = made(catalogue, {"loop.empty": steady(-10), "a.x": steady(50)})
    loop, other = row(result, "loop.empty"), row(result, "a.x")
    assert (loop.net, loop.sound) == (-10, False)  # shown all the same
    assert loop.errors == ("net cycles is -10, below zero",)
    assert loop.unsound == loop.errors[0]
    assert "wrong: time: loop.empty: net cycles is -10, below zero" in result.incomplete
    assert ratio(loop, other) is ratio(other, loop) is ratio(None, other) is None
    assert ratio(other, other) == 1


def test_without_its_boots_reading_a_row_has_no_net(catalogue: Catalogue) -> None:
    records = ["begin proto=1 apps=1", "bench loop.empty inner=1000 n=2", "data cycles 20*2"]
    loop = row(
        result_of(encoded("loop", [*records, "data instret 8*2", "end ok"]), catalogue),
        "loop.empty",
    )
    assert loop.cycles is not None
    assert (loop.cycles.median, loop.net, loop.errors) == (20, None, ())
    assert (loop.unsound, loop.sound) == ("no net cycles", False)
    assert ratio(loop, loop) is None


def test_a_series_that_stops_early_must_repeat(catalogue: Catalogue) -> None:
    records = ["begin proto=1 apps=1", "bench time.read inner=1 n=99"]
    records += ["data cycles 9 1*20 2", "data instret 5*22", "end ok"]
    assert result_of(encoded("time", records), catalogue).incomplete == (
        "wrong: time: time.read: cycles stops after 22 of 99 samples, which do not repeat",
    )


def test_what_is_missing_is_named(log: list[str], catalogue: Catalogue) -> None:
    """The bench line of size=64 is lost: its own data, and the open record before it, go too."""
    result = result_of([line for line in log if "size=64" not in line], catalogue)
    assert result.incomplete[-1] == "missing: mem: mem.copy_asm size=64"
    assert result.problems[-1] == "mem: mem.copy_asm size=32 lacks instret"
    assert row(result, "mem.copy_asm", size=32).instret is None
    assert any("lost line 8; with it 'data instret'" in reason for reason in result.problems)


def test_what_failed_twice_or_is_there_too_is_listed_once(catalogue: Catalogue) -> None:
    """An app that began a row anew behind its failure, and two that gave up the same one."""
    begin, fail = "begin proto=1 apps=1", "fail loop.empty call=memop err=NOMEM"
    rows = ["bench loop.empty inner=1000 n=2", "data cycles 9*2", "data instret 9*2"]
    one = result_of(encoded("loop", [begin, fail, *rows, "end ok"]), catalogue)
    why = "loop.empty failed, too: memop returned NOMEM"
    assert (one.failed, one.problems) == ((), (f"loop: {why}",))
    two = result_of(
        [line for app in "ab" for line in encoded(app, [begin, fail, "end ok"])], catalogue
    )
    assert len(two.failed) == 1
    assert f"b: {why}" in two.problems
    never = "fail time.read call=command err=BUSY"
    three = result_of(encoded("time", [begin, never, "end ok"]), catalogue)
    assert ([gone.id for gone in three.failed], three.missing) == (["time.read"], ())


def test_events_are_net_of_those_of_the_readings(catalogue: Catalogue) -> None:
    records = ["begin proto=1 apps=1", "bench time.read inner=1 n=2", "data cycles 9*2"]
    rest = " ".join(["0*2"] * 7)
    records += ["data instret 5*2", f"data events 0*2 0*2 4*2 {rest}"]
    records += ["bench loop.empty inner=1000 n=2", "data cycles 20*2", "data instret 8*2"]
    records += [f"data events 0*2 0*2 (10,10) {rest}", "end ok"]
    events = row(result_of(encoded("loop", records), catalogue), "loop.empty").events
    assert (events[5].median, events[5].overhead, events[5].net) == (10, 4, 6)
    assert list(events) == list(range(3, 13))


def test_one_reading_stands_for_itself_in_a_table(log: list[str], catalogue: Catalogue) -> None:
    """The readings of the app time stand for all, wherever it is; or else the first."""
    result = result_of(log, catalogue)
    assert [row.boot for row in result.rows if row.is_overhead] == ["time", "loop", "mem"]
    for rows, boot in ((result.rows, "time"), (result.rows[::-1], "time")):
        found = [r for r in replace(result, rows=rows).table.values() if r.is_overhead]
        assert [r.boot for r in found] == [boot]
    without = replace(result, rows=tuple(r for r in result.rows if r.boot != "time"))
    assert [r.boot for r in without.table.values() if r.is_overhead] == ["loop"]
    assert [r for r in result.table.values() if not r.is_overhead] == [
        r for r in result.rows if not r.is_overhead
    ]


def test_rows_of_both_cache_settings_stand_apart(catalogue: Catalogue) -> None:
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
    assert only.rows[0].net == 5  # its reading is not lost with the row of it


def test_a_second_boot_of_a_name_gives_no_second_row(catalogue: Catalogue) -> None:
    records = ["begin proto=1 apps=1", "bench time.read inner=1 n=2", "data cycles 9*2"]
    records += ["data instret 5*2", "end ok"]
    lines = [BootMark("time", True, "time").encode(), *encoded("time", records)]
    result = result_of([*lines, *lines], catalogue)
    assert len(result.rows) == 1
    assert result.problems == ("time: time.read icache=on was measured before; the first counts",)


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
    with pytest.raises(TockmarkError, match=r"r.json: No space left on device; .* untouched"):
        write_whole({log: "#boot new", path: head + ","})
    assert (log.read_text(), path.read_text()) == (old, head)
    assert sorted(os.listdir(tmp_path)) == ["r.json", "r.log"]
