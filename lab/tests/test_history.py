# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The history: appended lines stay whole, and changes of level are found at the right commits."""

import errno
import json
import math
import os
from itertools import pairwise
from pathlib import Path

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from tockmark.base.errors import TockmarkError
from tockmark.base.paths import RESULTS
from tockmark.result import file
from tockmark.result.model import Result
from tockmark.result.provenance import Kernel
from tockmark.suite.catalogue import Catalogue, load
from tockmark.suite.selection import Selection, select
from tockmark.tests.conftest import CATALOGUE
from tockmark.tests.damage import WHOLE
from tockmark.tests.of_samples import ON_BOARD, SIMULATED, exit_code, made, steady, with_provenance
from tockmark.tests.test_counter import result as read_by
from tockmark.tests.test_lang_judged import COMMAND, KNOWN, languages
from tockmark_lab.app import app
from tockmark_lab.folders import DATA
from tockmark_lab.over_time import history, history_text

NOISE = np.random.default_rng(5)


@pytest.fixture
def catalogue(tmp_path: Path) -> Catalogue:
    path = tmp_path / "catalogue.toml"
    path.write_text(CATALOGUE)
    return load(path)


def run(catalogue: Catalogue, day: int, net: int, inner: int = 1, **board: object) -> Result:
    result = made(
        catalogue,
        {"a.x n=1": steady(net)},
        inner=inner,
        kernel=Kernel("one 1.0", sha256=f"{net // 10 % 10}" * 64),
        board=msgspec.structs.replace(SIMULATED, **board),
    )
    return dated(result, day)


def dated(result: Result, day: int) -> Result:
    return with_provenance(result, date=f"2026-11-{day:02}T10:00:00+00:00")


def series(path: Path, catalogue: Catalogue, term: str = "a.x") -> list[history.RowHistory]:
    return history.series(history.load(path)[0], Selection(catalogue, (term,)))


def filled(tmp_path: Path, catalogue: Catalogue, nets: list[int]) -> Path:
    path = tmp_path / "h.jsonl"
    for day, net in enumerate(nets, 1):
        assert history.add(path, run(catalogue, day, net))
    return path


def test_exact_steps_and_the_factors_that_changed_with_them(
    tmp_path: Path, catalogue: Catalogue
) -> None:
    path = filled(tmp_path, catalogue, [100, 100, 110, 110, 90])
    (only_series,) = series(path, catalogue)
    assert not history.load(path)[1]
    assert [point.cycles for point in only_series.points] == [100, 100, 110, 110, 90]
    assert [point.changed for point in only_series.points] == [False, False, True, False, True]
    assert only_series.causes(4) == ["kernel"]
    text = history_text.history_text([only_series])
    assert "2026-11-03 10:00:00  +10.0 %; " in text
    assert max(map(len, text.splitlines())) <= 100


def test_the_same_run_is_added_once(tmp_path: Path, catalogue: Catalogue) -> None:
    path = filled(tmp_path, catalogue, [100])
    assert not history.add(path, run(catalogue, 1, 100))
    assert len(path.read_text().splitlines()) == 1


@pytest.mark.parametrize("cut", [1, 2, 50, 500])
def test_a_torn_last_line_is_skipped(tmp_path: Path, catalogue: Catalogue, cut: int) -> None:
    """A killed writer leaves such a line. The next run is appended as a whole line."""
    path = filled(tmp_path, catalogue, [100, 101])
    whole = path.read_bytes()
    path.write_bytes(whole[:-cut])
    runs, problems = history.load(path)
    assert (len(runs), len(problems)) == ((2, 0) if cut == 1 else (1, 1))
    history.add(path, run(catalogue, 3, 102))
    runs, problems = history.load(path)
    assert [r.rows[1].cycles for r in runs] == ([100, 101, 102] if cut == 1 else [100, 102])
    assert problems == ([] if cut == 1 else [f"{path}: line 2 is incomplete; skipped"])


def test_a_full_disk_leaves_the_old_file(
    tmp_path: Path, catalogue: Catalogue, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = filled(tmp_path, catalogue, [100])
    before = path.read_bytes()
    write = os.write
    monkeypatch.setattr(os, "write", lambda handle, data: write(handle, data[:99]))
    with pytest.raises(
        TockmarkError, match=r"h.jsonl: No space left on device; the file is unchanged"
    ):
        history.add(path, run(catalogue, 2, 101))
    assert path.read_bytes() == before

    def no_sync(handle: int) -> None:
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    monkeypatch.setattr(os, "write", write)
    monkeypatch.setattr(os, "fsync", no_sync)
    with pytest.raises(TockmarkError, match="the file is unchanged"):
        history.add(path, run(catalogue, 2, 101))
    assert path.read_bytes() == before


LINE = '{"format": "tockmark-history", "version": 2'


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "has no runs"),
        ('{"format":"tock', "has no runs"),  # torn while the first run was written
        ("\x00\n", "is another file, not a history. Give a file"),
        ("[]\n3\n", "is another file, not a history"),
        ('{"format": "other"}\n', "is another file, not a history"),
        (json.dumps(WHOLE), "is a result file, not a history. `tockmark table` shows it"),
        (json.dumps(WHOLE, indent=1), "is a result file, not a history"),
        ('{"format": "tockmark-profile",\n', "is a profile of one sample, not a history"),
        ('{"format": "tockmark-history", "version": 1}\n', "line 1: not a .* or make it again"),
        ('{"format": "tockmark-history", "version": 2}\n', "line 1: .* required field `date`"),
        (f'{LINE}, "a": 1e999}}\n', "line 1: Number out of range"),
        (f'{LINE}, "date": "2026\\u001b[2J"}}\n', r"line 1: Expected .*text.* at `date`"),
    ],
)
def test_other_files_are_refused(text: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "h.jsonl"
    path.write_text(text)
    with pytest.raises(TockmarkError, match=message):
        history.load(path)
    with pytest.raises(TockmarkError, match="cannot read"):
        history.load(tmp_path / "none.jsonl")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"date": 3}, "Expected `str`, got `int` - at `date`"),
        ({"date": "yesterday"}, "matching regex .* at `date`"),
        ({"factors": {}}, "factors lack machine"),
        ({"rows": 5}, "at `rows`"),
        ({"rows": [{}]}, r"row 1: .* required field `id`"),
        ({"rows": [{"id": "a.x", "cycles": "9"}]}, r"row 1 \(a.x\)\.cycles: Expected `float`"),
        ({"rows": [{"id": "a.x", "cycles": None}]}, r"row 1 \(a.x\)\.cycles: .*got `null`"),
        ({"rows": [{"id": "a.x", "cycles": 9, "span": [1]}]}, r"row 1 \(a.x\)\.span: .* length 2"),
        (
            {"rows": [{"id": "a.x", "cycles": -1e308}]},
            r"row 1 \(a.x\)\.cycles: Expected `float` >=",
        ),
        ({"rows": [{"id": "a.x", "cycles": 1e308}]}, r"row 1 \(a.x\)\.cycles: Expected `float` <="),
        ({"rows": [{"id": "a.x", "cycles": 9, "instret": 1e308}]}, r"row 1 \(a.x\)\.instret: "),
        ({"rows": [{"id": "a.x", "cycles": 9, "instret": None}]}, r"\.instret: .* got `null`"),
        ({"rows": [{"id": "a.x", "cycles": 9, "span": [5, 1]}]}, "span of the row a.x ends before"),
        ({"rows": [{"id": "a.x", "cycles": 9}] * 2}, "two rows are named a.x"),
        ({"rows": [{"id": "a.x", "cycles": 9, "more": 9}]}, "unknown field `more`"),
    ],
)
def test_a_line_of_another_format_is_refused(
    change: dict[str, object], message: str, tmp_path: Path, catalogue: Catalogue
) -> None:
    path = filled(tmp_path, catalogue, [100])
    path.write_text(json.dumps(json.loads(path.read_text()) | change) + "\n")
    with pytest.raises(TockmarkError, match=f"h.jsonl: line 1: .*{message}"):
        history.load(path)


def test_nothing_is_added_to_another_file(tmp_path: Path, catalogue: Catalogue) -> None:
    """The other file would no longer be valid."""
    path = tmp_path / "r.json"
    for content in (file.text(run(catalogue, 1, 100)), "some words\n", "\n"):
        path.write_text(content)
        with pytest.raises(TockmarkError, match=r"is (a result|another) file, not a history"):
            history.add(path, run(catalogue, 2, 100))
        assert path.read_text() == content


def test_the_same_run_twice_is_refused(tmp_path: Path, catalogue: Catalogue) -> None:
    path = filled(tmp_path, catalogue, [100])
    path.write_bytes(path.read_bytes() * 2)
    with pytest.raises(TockmarkError, match=r"h.jsonl: line 2 repeats the run of line 1. Delete"):
        history.load(path)


def test_a_line_has_the_figures_of_the_result(tmp_path: Path, catalogue: Catalogue) -> None:
    path = filled(tmp_path, catalogue, [100])
    (read_run,), _ = history.load(path)
    assert read_run == history.history_run(run(catalogue, 1, 100))
    assert [row.name for row in read_run.rows] == ["time.read icache=off", "a.x n=1 icache=off"]
    assert read_run.factors["kernel"] == f"one 1.0 sha256 {'0' * 12}"


def test_runs_that_cannot_be_compared_are_separate_series(
    tmp_path: Path, catalogue: Catalogue
) -> None:
    path = filled(tmp_path, catalogue, [100])
    history.add(path, run(catalogue, 2, 300, machine="nexysvideo"))
    every_series = series(path, catalogue)
    assert [len(series.points) for series in every_series] == [1, 1]
    assert not any(point.changed for series in every_series for point in series.points)


def test_a_series_has_one_kernel_family_and_opt_level(tmp_path: Path, catalogue: Catalogue) -> None:
    path = filled(tmp_path, catalogue, [100])
    kernels = [
        Kernel(name, sha256=f"{n}" * 64, opt_level=level)
        for n, (name, level) in enumerate(
            [
                ("tockmark-baseline 0.1.0 abi2 cw310", "z"),
                ("Tock 2.2, patched", "z"),
                ("Tock master, patched", "z"),
                ("Tock 2.2, patched", "2"),
            ],
            1,
        )
    ]
    for day, kernel in enumerate(kernels, 2):
        history.add(path, dated(made(catalogue, {"a.x n=1": steady(300)}, kernel=kernel), day))
    assert [len(series.points) for series in series(path, catalogue)] == [1, 1, 2, 1]
    assert all("simulated cw310" in series.setting for series in series(path, catalogue))


def test_figures_are_of_one_operation(tmp_path: Path, catalogue: Catalogue) -> None:
    path = tmp_path / "h.jsonl"
    history.add(path, run(catalogue, 1, 1600, inner=16))
    (only_series,) = series(path, catalogue)
    assert [point.cycles for point in only_series.points] == [100]


def test_other_numbers_of_samples_are_separate_series(tmp_path: Path, catalogue: Catalogue) -> None:
    path = filled(tmp_path, catalogue, [100])
    history.add(path, run(catalogue, 2, 1600, inner=16))
    every_series = series(path, catalogue)
    assert [s.label for s in every_series] == [
        "a.x n=1 icache=off",
        "a.x n=1 icache=off, 16 a sample",
    ]


@given(st.lists(st.integers(0, 3), max_size=30))
def test_exact_values_change_where_they_differ(values: list[int]) -> None:
    at = history.change_points([float(v) for v in values], None)
    assert at == [i for i in range(1, len(values)) if values[i] != values[i - 1]]


def test_a_level_is_found_in_noise() -> None:
    hits = false = 0
    for _ in range(100):
        quiet = [float(v) for v in NOISE.normal(1000, 5, 30)]
        false += bool(history.change_points(quiet, 5))
        stepped = quiet[:18] + [v + 20 for v in quiet[18:]]
        hits += history.change_points(stepped, 5) in ([17], [18], [19])
    assert hits >= 90
    assert false <= 10


def test_one_outlier_is_no_change() -> None:
    values = [1000.0] * 10 + [1030.0] + [1000.0] * 10
    assert history.change_points(values, 5) != [10]
    assert len(history.change_points([1000.0, 1000, 1500], 5)) == 0


@given(
    st.lists(st.floats(0, 1e6), min_size=4, max_size=12),
    st.floats(0.5, 1e5),
)
def test_the_cuts_are_optimal(values: list[float], noise: float) -> None:
    """Compare with all ways to cut the series."""

    def cost(cuts: list[int]) -> float:
        ends = [0, *cuts, len(values)]
        parts = [np.array(values[a:b]) / noise for a, b in pairwise(ends)]
        squares = sum(float(((part - part.mean()) ** 2).sum()) for part in parts)
        return squares + 3 * math.log(len(values)) * len(cuts)

    n = len(values)
    ways = ([i for i in range(1, n) if bits >> i & 1] for bits in range(0, 2**n, 2))
    allowed = [w for w in ways if all(b - a >= 2 for a, b in zip([0, *w], [*w, n], strict=True))]
    points = history.change_points(values, noise)
    assert points in allowed
    assert cost(points) == pytest.approx(min(map(cost, allowed)), rel=1e-6, abs=1e-3)


def test_noisy_runs_have_intervals(tmp_path: Path, catalogue: Catalogue) -> None:
    path = tmp_path / "h.jsonl"
    for day in range(1, 13):
        samples = [int(s) for s in NOISE.normal(5000 + 900 * (day > 6), 40, 100)]
        history.add(path, dated(made(catalogue, {"a.x": samples}, board=ON_BOARD), day))
    (only_series,) = series(path, catalogue)
    assert [i for i, point in enumerate(only_series.points) if point.changed] == [6]
    assert all(point.low < point.cycles < point.high for point in only_series.points)


def test_the_verb(tmp_path: Path, catalogue: Catalogue) -> None:
    path, picture = tmp_path / "h.jsonl", tmp_path / "out.png"
    for day, net in enumerate([100, 120], 1):
        (tmp_path / "r.json").write_text(file.text(run(catalogue, day, net)))
        added = CliRunner().invoke(
            app, ["history", "--add", str(tmp_path / "r.json"), "-f", str(path)]
        )
        assert added.output == f"{tmp_path / 'r.json'} added to {path}\n"

    def verb(*arguments: str) -> tuple[int, str]:
        done = CliRunner().invoke(app, ["history", "-f", str(path), *arguments])
        return exit_code(done), done.output

    code, text = verb("a.x", "-o", str(picture))
    assert (code, "+20.0 %" in text) == (0, True)
    assert picture.read_bytes().startswith(b"\x89PNG")
    before = path.read_bytes()
    assert verb("a.x", "-o", str(tmp_path / "out.gif")) == (2, "")
    (tmp_path / "r.json").write_text(file.text(run(catalogue, 3, 130)))
    assert verb("a.x", "--add", str(tmp_path / "r.json"), "-o", str(tmp_path / "out")) == (2, "")
    assert path.read_bytes() == before
    code, text = verb("*", "--json")
    assert [s["label"] for s in json.loads(text)] == ["time.read icache=off", "a.x n=1 icache=off"]
    assert "a.x n=1 icache=off" in verb()[1]
    assert "time.read" not in verb()[1]  # it did not change
    assert verb("b.y")[0] == 2
    assert verb("syscall.command")[0] == 2  # in the suite, but not in any run
    assert verb("a.x:n=2")[0] == 2
    assert "a.x n=1" in verb("a.x:n=1 icache=off")[1]
    path.write_bytes(path.read_bytes()[:-9])
    assert verb("a.x")[0] == 1


def test_a_history_keeps_counters_apart(tmp_path: Path, catalogue: Catalogue) -> None:
    path = tmp_path / "h.jsonl"
    for counter in ("perf", "cyclecount"):
        history.add(path, read_by(catalogue, counter))
    runs, _ = history.load(path)
    every_series = history.series(runs, Selection(catalogue, ("loop.empty",)))
    counters = [each.setting.rpartition(", ")[2] for each in every_series]
    assert counters == ["ABI version 2", "counter CycleCount"]


def test_a_history_has_a_line_for_each_language(tmp_path: Path) -> None:
    both = languages(1, 1.3)
    path = tmp_path / "h.jsonl"
    assert history.add(path, both)
    runs, _ = history.load(path)
    assert runs == [history.history_run(both)]
    labels = [series.label for series in history.series(runs, select(KNOWN, COMMAND))]
    names = [f"{COMMAND} icache={on}" for on in ("on", "off")]
    assert labels == [*names, *(f"{name} lang=rust" for name in names)]
    rust = history.series(runs, select(KNOWN, f"{COMMAND} lang=rust"))
    assert [series.points[0].cycles for series in rust] == [1300, 1300]


def test_the_history_has_every_committed_result() -> None:
    runs, problems = history.load(DATA / "history.jsonl")
    assert not problems
    for path in sorted(RESULTS.glob("*.json")):
        assert history.history_run(file.load(path)) in runs, path.name
    assert [run.date for run in runs] == sorted(run.date for run in runs)
