# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Records become rows. A number counts only if its row is certain."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tockmark.suite.catalogue import LANGS, Lang
from tockmark.tests.conftest import RECORDS, encoded
from tockmark.tests.rows import samples
from tockmark.wire.boots import App, Measured, assemble
from tockmark.wire.records import BootMark, Mark, decode
from tockmark.wire.rows import StoredRow, is_whole, series_samples


def measured(lines: list[str]) -> Measured:
    return assemble(decode(lines))


def rows(result: Measured) -> list[StoredRow]:
    return [row for _, app in result.each() for row in app.rows]


def apps(result: Measured) -> dict[str, App]:
    return {app.name: app for _, app in result.each()}


def numbers(result: Measured) -> dict[object, dict[str, list[int]]]:
    return {(row.boot, row.key): samples(row) for row in rows(result)}


def test_a_whole_log(log: list[str]) -> None:
    result = measured(log)
    assert not result.problems
    assert list(apps(result)) == ["time", "loop", "mem"]
    assert all(app.ended for app in apps(result).values())
    (copy,) = (row for row in rows(result) if row.params == {"size": 64})
    assert samples(copy) == {"cycles": [600] + [437] * 9, "instret": [134] * 10}
    assert (copy.inner, copy.asked) == (1, 100)


@given(st.sets(st.integers(0, 30)), st.integers(0, 60))
def test_lost_lines_never_give_a_wrong_number(lost: set[int], cut: int) -> None:
    """After any loss of lines, every remaining series belongs to its row."""
    lines = [line for app, records in RECORDS.items() for line in encoded(app, records)]
    truth = numbers(measured(lines))
    kept = [line for i, line in enumerate(lines) if i not in lost][:cut]
    result = measured(kept)
    for key, series in numbers(result).items():
        for name, values in series.items():
            assert truth[key][name] == values
    if len(kept) < len(lines):
        whole_apps = {row.boot for row in rows(result)} | set(apps(result))
        assert result.problems or numbers(result) == truth or len(whole_apps) < 3


@pytest.mark.parametrize(
    ("records", "problem"),
    [
        (["data cycles 1*5"], "does not count"),
        (["bench a.b n=5"], "inner"),
        (["bench a.b inner=0 n=5"], "not a positive number"),
        (["bench a.b x=1 x=2 inner=1 n=5"], "appears twice"),
        (["begin proto=1 apps=x"], "positive"),
        (["bench a.b inner=1 n=5", "data cycles 1*6"], "samples"),
        (["bench a.b inner=1 n=5", "data cycles 1*5", "data instret 1*4"], "another number"),
        (["bench a.b inner=1 n=5", "data cycles 1*5", "data cycles 1*5"], "came twice"),
        (["bench a.b inner=1 n=5", "data jiffies 1*5"], "unknown series"),
        (["bench a.b inner=1 n=5", "bench a.b inner=1 n=5"], "measured before"),
        (["bench a.b inner=1 n=5", "data cycles 1*x"], "not a run"),
        (["oops 1"], "record"),
        (["begin proto=9 apps=1"], "proto=1, not proto=9"),
        (["begin proto=1 apps=3"], "announced"),
    ],
)
def test_nonsense_is_reported(records: list[str], problem: str) -> None:
    result = measured(encoded("a", [*records, "end ok"]))
    assert len(result.problems) == 1
    assert problem in str(result.problems[0])


def test_fail_and_skip_have_no_row() -> None:
    result = measured(
        encoded(
            "a",
            [
                "bench a.b size=4 inner=1 n=5",
                "data cycles 1*5",
                "fail a.b size=4 call=memop err=NOMEM",
                'skip a.c reason="no IPC here"',
                "end ok",
            ],
        )
    )
    assert not result.problems
    assert not rows(result)
    (failed, fail), (skipped, skip) = apps(result)["a"].absent_rows
    assert (failed, fail.id, fail.params, fail.why) == (
        "fail",
        "a.b",
        {"size": 4},
        "memop returned NOMEM",
    )
    assert (skipped, skip.why) == ("skip", "no IPC here")


@pytest.mark.parametrize("damage", ["", "#boot a-1 icache=on app=a *0000", "boot"])
def test_a_lost_boot_mark_affects_no_other_boot(damage: str) -> None:
    """Rows after a lost mark belong to an unknown boot."""
    begin = "begin proto=1 apps=1"
    benches = [begin, "bench x.y inner=1 n=5", "data cycles 1*5", "end ok"]
    for second in ("a", "b"):  # the same app again, or another app
        mark = BootMark("a-1", True, "a").encode()
        lines = [mark, *encoded("a", benches), damage, *encoded(second, benches)]
        result = measured(lines)
        assert [boot.icache for boot in result.boots] == [True, None]
        assert any("missing" in str(p) for p in result.problems)
        assert [len(app.rows) for _, app in result.each()] == [1, 1]


def boot(lang: Lang | None, begins: str) -> list[str]:
    """Return a log of one app, with the language in its marks, and the given `begin` record."""
    first, last = (BootMark("a-1", True, "a", end, lang).encode() for end in (False, True))
    records = [f"begin proto=1{begins} apps=1", "bench x.y inner=1 n=5", "data cycles 1*5"]
    return [first, *encoded("a", [*records, "data instret 1*5", "end ok"]), last]


def languages(lines: list[str]) -> list[str]:
    """Return the languages of the apps, in order."""
    return [app.lang for _, app in measured(lines).each()]


def test_the_begin_record_or_the_mark_gives_the_language() -> None:
    for begins in ("", " lang="):
        lines = [line for lang in LANGS for line in boot(lang, begins and begins + lang)]
        assert not measured(lines).problems
        assert languages(lines) == list(LANGS)
    for lang in LANGS:
        assert languages(boot(None, f" lang={lang}")) == [lang]
        assert languages(boot(None, f" lang={lang}")[1:-1]) == [lang]
    assert languages(boot(None, "")) == ["c"]  # like old logs


PANIC = "call=panic err=x.rs:12"


def test_a_row_whose_app_panicked() -> None:
    records = ["begin proto=1 apps=1", "bench a.b inner=1 n=5", f"fail a.b n=3 {PANIC}"]
    result = measured(encoded("a", [*records, "end panicked"]))
    ((_, gone),) = apps(result)["a"].absent_rows
    assert (gone.id, gone.params, gone.why) == ("a.b", {"n": 3}, "panicked at x.rs:12")
    (problem,) = result.problems
    assert "panicked" in str(problem)


def test_events_belong_to_their_row() -> None:
    records = ["bench a.b inner=1 n=5", "data cycles 1*5", "data instret 1*5"]
    records += ["data events (7,8) 1*2 0 0 0 0 0 0 0 5*2"]
    records += ["bench a.c inner=1 n=5", "data cycles 1*5", "end ok"]
    result = measured(encoded("a", records))
    assert not result.problems
    first, second = rows(result)
    assert (first.events_runs, second.events_runs) == ("(7,8) 1*2 0 0 0 0 0 0 0 5*2", None)


def test_the_simulators_clock_has_its_own_samples() -> None:
    bench = "bench a.b inner=1 n=2 clock=sim from=irq to=upcall"
    begin, *rest = encoded("a", ["begin proto=1 apps=1", bench, "end ok"])
    seen = [(1, "arm"), (10, "irq"), (25, "upcall"), (40, "arm"), (50, "irq"), (61, "upcall")]
    *marks, last = [Mark(0, cycle, name).encode() for cycle, name in seen]
    whole = [begin, *marks, last, *rest]
    (row,) = rows(measured(whole))
    assert (samples(row), row.clock) == ({"cycles": [15, 11]}, "sim")
    torn = measured([begin, *marks, *rest])
    ((kind, fail),) = apps(torn)["a"].absent_rows
    assert (kind, "no mark upcall" in str(fail.why)) == ("fail", True)
    ((kind, _),) = apps(measured([begin, *rest]))["a"].absent_rows
    assert kind == "skip"


PASSES = [
    "begin proto=1 apps=1",
    "bench a.b inner=1 n=20 passes=4",
    "data cycles 9*20",
    "data instret 5*20",
    "data short_cycles 50*3",
    "data short_instret 30*3",
    "data long_cycles 90*4",
    "data long_instret 60*4",
    "end ok",
]


def test_series_of_several_passes() -> None:
    """Both counters of one length have the same number of samples; different lengths may differ."""
    result = measured(encoded("a", PASSES))
    assert not result.problems
    (row,) = rows(result)
    assert (
        row.passes,
        series_samples(row, "short_cycles"),
        len(series_samples(row, "long_instret")),
    ) == (
        4,
        (50,) * 3,
        4,
    )
    assert is_whole(row)


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        (" passes=4", "", "short_cycles"),
        ("passes=4", "passes=0", "passes=0"),
        ("passes=4", "passes=4 by=reading", "by=reading"),
        ("data long_instret 60*4", "data long_instret 60*3", "another"),
        ("data long_instret", "data longer_instret", "'longer_instret'"),
    ],
)
def test_impossible_passes(old: str, new: str, says: str) -> None:
    records = [record.replace(old, new) for record in PASSES]
    result = measured(encoded("a", records))
    assert any(says in str(problem) for problem in result.problems)
    assert not any(row.passes and is_whole(row) for row in rows(result))
