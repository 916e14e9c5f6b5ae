# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The result file: it follows its schema, comes back as it was, and is never half written."""

import errno
import json
import os
from pathlib import Path

import pytest

from tockmark.errors import TockmarkError
from tockmark.log.protocol import decode, expand
from tockmark.log.rows import assemble
from tockmark.result import result as results
from tockmark.suite.catalogue import Catalogue
from tockmark.tests.conftest import encoded


def build(lines: list[str], catalogue: Catalogue) -> results.Json:
    return results.build(assemble(decode(lines)), catalogue)


def row(result: results.Json, id_: str, **params: int) -> results.Json:
    (found,) = (r for r in result["rows"] if (r["id"], r["params"]) == (id_, params))
    assert isinstance(found, dict)
    return found


def test_round_trip(log: list[str], catalogue: Catalogue, tmp_path: Path) -> None:
    result = build(log, catalogue)
    results.write_whole({tmp_path / "r.json": results.text(result)})
    assert results.load(tmp_path / "r.json") == result
    assert not results.incomplete(result)


def test_net_is_less_the_read_overhead_of_the_same_app(
    log: list[str], catalogue: Catalogue
) -> None:
    loop = row(build(log, catalogue), "loop.empty")
    assert loop["cycles"]["stats"]["median"] == 3342
    assert (loop["cycles"]["overhead"], loop["cycles"]["net"]) == (341, 3001)
    assert loop["cycles"]["net_per_op"] == 3.001
    assert (loop["instret"]["net"], loop["instret"]["net_per_op"]) == (2003, 2.003)
    assert expand(loop["cycles"]["samples"]) == [4000, *[3341, 3343] * 5]
    assert loop["us"] is None  # a bare log does not tell the clock


def test_time_and_bandwidth_need_the_clock(log: list[str], catalogue: Catalogue) -> None:
    board = {**results.UNKNOWN["board"], "clock_hz": 24_000_000}
    result = results.build(assemble(decode(log)), catalogue, {"board": board})
    copy = row(result, "mem.copy_asm", size=64)
    assert copy["us"] == pytest.approx(96 / 24)
    assert copy["mb_per_s"] == pytest.approx(16)


def test_a_negative_net_is_an_error(catalogue: Catalogue) -> None:
    lines = encoded(
        "loop",
        [
            "begin proto=1 apps=1",
            "bench time.read inner=1 n=9",
            "data cycles 50*9",
            "data instret 10*9",
            "bench loop.empty inner=1000 n=9",
            "data cycles 40*9",
            "data instret 20*9",
            "end ok",
        ],
    )
    result = build(lines, catalogue)
    loop = row(result, "loop.empty")
    assert loop["cycles"]["net"] == -10
    assert loop["errors"] == ["net cycles is -10, below zero"]
    assert results.incomplete(result) == ["wrong: loop: loop.empty: net cycles is -10, below zero"]


def test_a_series_that_stops_early_must_repeat(catalogue: Catalogue) -> None:
    records = ["begin proto=1 apps=1", "bench time.read inner=1 n=99"]
    records += ["data cycles 9 1*20 2", "data instret 5*22", "end ok"]
    reasons = results.incomplete(build(encoded("time", records), catalogue))
    assert reasons == [
        "wrong: time: time.read: cycles stops after 22 of 99 samples, which do not repeat"
    ]


def test_what_is_missing_is_named(log: list[str], catalogue: Catalogue) -> None:
    """The bench line of size=64 is lost: its own data, and the open record before it, go too."""
    cut = [line for line in log if "size=64" not in line]
    result = build(cut, catalogue)
    assert results.incomplete(result)[-1] == "missing: mem: mem.copy_asm (2 rows)"
    assert row(result, "mem.copy_asm", size=32)["instret"] is None
    assert any("lost line 8; with it 'data instret'" in reason for reason in result["problems"])


def test_a_full_disk_leaves_the_old_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log, path = tmp_path / "r.log", tmp_path / "r.json"
    results.write_whole({log: "old", path: "old"})
    calls: list[int] = []

    def full(handle: int) -> None:  # at the second file
        calls.append(handle)
        if len(calls) == 2:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(TockmarkError, match=r"r.json: No space left on device; .* untouched"):
        results.write_whole({log: "new", path: "new"})
    assert (log.read_text(), path.read_text()) == ("old", "old")
    assert sorted(os.listdir(tmp_path)) == ["r.json", "r.log"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("not json", "it is not JSON"),
        ("[]", "is not a result file"),
        ("{}", "is not a result file"),
        ('{"version": 3}', "format version 3, this tool reads 2"),
        ("\x00\x01", "it is not JSON"),
        ("[" * 100_000, "is not a result file"),
    ],
)
def test_other_files_are_refused(text: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    path.write_text(text)
    with pytest.raises(TockmarkError, match=message):
        results.load(path)


def test_a_result_of_version_1_is_read(
    log: list[str], catalogue: Catalogue, tmp_path: Path
) -> None:
    """Made from a result of today by taking away what version 1 did not have."""
    new = build(log, catalogue)
    old = json.loads(results.text(new))
    old["version"] = 1
    old["provenance"]["board"]["icache"] = True
    old["provenance"]["layout"] = {}
    del old["provenance"]["abi"], old["provenance"]["boots"]
    for app in old["provenance"]["apps"]:
        del app["boot"]
    for row_ in old["rows"]:
        for key in ("boot", "icache", "reads", "clock", "events"):
            del row_[key]
    path = tmp_path / "old.json"
    path.write_text(json.dumps(old))
    loaded = results.load(path)
    assert [{**r, "icache": None} for r in loaded["rows"]] == new["rows"]
    assert {r["icache"] for r in loaded["rows"]} == {True}


def test_events_are_net_of_those_of_the_readings(catalogue: Catalogue) -> None:
    records = ["begin proto=1 apps=1", "bench time.read inner=1 n=2", "data cycles 9*2"]
    rest = " ".join(["0*2"] * 7)
    records += ["data instret 5*2", f"data events 0*2 0*2 4*2 {rest}"]
    records += ["bench loop.empty inner=1000 n=2", "data cycles 20*2", "data instret 8*2"]
    records += [f"data events 0*2 0*2 (10,10) {rest}", "end ok"]
    loop = row(build(encoded("loop", records), catalogue), "loop.empty")
    assert loop["events"]["5"] == {"median": 10, "overhead": 4, "net": 6}
    assert list(loop["events"]) == [str(n) for n in range(3, 13)]


def test_the_schema_is_strict(log: list[str], catalogue: Catalogue, tmp_path: Path) -> None:
    result = build(log, catalogue)
    result["rows"][0]["cycles"]["stats"]["median"] = "fast"
    path = tmp_path / "x.json"
    path.write_text(json.dumps(result))
    with pytest.raises(TockmarkError, match="rows/0/cycles"):
        results.load(path)
