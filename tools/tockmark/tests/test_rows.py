# SPDX-License-Identifier: Apache-2.0 OR MIT
"""From records to rows: a number counts only where it is certain whose it is."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tockmark.documents import MAX_COUNT
from tockmark.suite.catalogue import LANGS, Lang
from tockmark.tests.conftest import RECORDS, encoded
from tockmark.tests.rows import samples
from tockmark.wire.boots import App, Measured, assemble, boot_of
from tockmark.wire.records import BootMark, Mark, Problem, decode
from tockmark.wire.rows import StoredRow, is_whole, samples_of
from tockmark.wire.uart_line import sealed


def measured(lines: list[str]) -> Measured:
    return assemble(decode(lines))


def rows(found: Measured) -> list[StoredRow]:
    return [row for _, app in found.each() for row in app.rows]


def apps(found: Measured) -> dict[str, App]:
    return {app.name: app for _, app in found.each()}


def numbers(found: Measured) -> dict[object, dict[str, list[int]]]:
    return {(row.boot, row.key): samples(row) for row in rows(found)}


def test_a_begin_names_a_boot_and_its_image_or_neither() -> None:
    image = "0123abcd"
    assert boot_of({"apps": "1"}) is None
    assert boot_of({"boot": "mem", "image": image}) == ("mem", image)
    for begin in ({"boot": "mem"}, {"image": image}, {"boot": "m m", "image": image}):
        with pytest.raises(ValueError, match="is no boot and its image"):
            boot_of(begin)


def test_a_number_is_as_large_as_a_result_takes() -> None:
    """Of a larger parameter the row is refused, and one below 0 is a number, too: as text either
    would be called like another row."""
    first, _, *data = RECORDS["time"]
    for number, good in ((0, False), (1, True), (MAX_COUNT, True), (MAX_COUNT + 1, False)):
        bench = f"bench time.read size={number} inner={number} n=10"
        assert len(rows(measured(encoded("time", [first, bench, *data])))) == good
        bench = f"bench time.read size={number} inner=1 n=10"
        fits = number <= MAX_COUNT
        found = measured(encoded("time", [first, bench, *data]))
        assert [row.params for row in rows(found)] == [{"size": number}] * fits
        assert (
            any(f"size={number} is too large" in str(problem) for problem in found.problems) != fits
        )
    (row,) = rows(measured(encoded("time", [first, "bench time.read size=-5 inner=1 n=10", *data])))
    assert row.params == {"size": -5}


def test_a_stack_is_of_the_row_whose_bench_follows() -> None:
    first, bench, *data = RECORDS["time"]
    said = "stack time.read bytes=380"
    (row,) = rows(measured(encoded("time", [first, said, bench, *data])))
    assert row.stack == 380
    (row,) = rows(measured(encoded("time", [first, bench, *data])))
    assert row.stack is None
    for wrong, why in (
        ("stack time.read bytes=0", "bytes=0 is not a positive number"),
        ("stack time.read", "an id, its parameters and bytes must stand there"),
    ):
        found = measured(encoded("time", [first, wrong, bench, *data]))
        assert any(why in str(problem) for problem in found.problems)
    twice = measured(encoded("time", [first, said, said.replace("380", "381"), bench, *data]))
    assert [row.stack for row in rows(twice)] == [380]
    assert any("was told before" in str(problem) for problem in twice.problems)


def test_a_whole_log(log: list[str]) -> None:
    found = measured(log)
    assert not found.problems
    assert list(apps(found)) == ["time", "loop", "mem"]
    assert all(app.ended for app in apps(found).values())
    (copy,) = (row for row in rows(found) if row.params == {"size": 64})
    assert samples(copy) == {"cycles": [600] + [437] * 9, "instret": [134] * 10}
    assert (copy.inner, copy.asked) == (1, 100)


@given(st.sets(st.integers(0, 30)), st.integers(0, 60))
def test_lost_lines_never_give_a_wrong_number(lost: set[int], cut: int) -> None:
    """Whatever is dropped, a series that is kept is the one that was measured for that row."""
    lines = [line for app, records in RECORDS.items() for line in encoded(app, records)]
    truth = numbers(measured(lines))
    kept = [line for i, line in enumerate(lines) if i not in lost][:cut]
    found = measured(kept)
    for key, series in numbers(found).items():
        for name, values in series.items():
            assert truth[key][name] == values
    if len(kept) < len(lines):
        whole_apps = {row.boot for row in rows(found)} | set(apps(found))
        assert found.problems or numbers(found) == truth or len(whole_apps) < 3


def test_data_after_a_gap_do_not_count() -> None:
    benches = [f"bench a.{name} inner=1 n=9" for name in "bcd"]
    lines = encoded("a", [*benches, "data cycles 5*9", "end ok"])
    del lines[2]  # the bench that the data belong to
    found = measured(lines)
    assert [samples(row) for row in rows(found)] == [{}]
    assert "lost line 2; with it 'bench a.c'" in str(found.problems[0])
    assert "cycles does not count" in str(found.problems[1])


def test_an_app_that_begins_again_starts_from_nothing() -> None:
    begin = "begin proto=1 apps=1"
    first = encoded("a", [begin, "bench a.b inner=1 n=9", "data cycles 5*9", "data instret 1*9"])
    second = encoded("a", [begin, "bench a.b inner=1 n=9", "data cycles 6*9", "end ok"])
    found = measured(first + second)
    assert [samples(row) for row in rows(found)] == [{"cycles": [6] * 9}]
    assert "began again" in str(found.problems[0])


@pytest.mark.parametrize(
    ("records", "problem"),
    [
        (["data cycles 1*5"], "does not count"),
        (["bench a.b n=5"], "inner, n must stand there"),
        (["bench a.b inner=0 n=5"], "not a positive number"),
        (["bench a.b x=1 x=2 inner=1 n=5"], "given twice"),
        (["begin proto=1 apps=x"], "apps=x is not a positive number"),
        (["bench a.b inner=1 n=5", "data cycles 1*6"], "6 samples of cycles, but 5"),
        (["bench a.b inner=1 n=5", "data cycles 1*5", "data instret 1*4"], "another number"),
        (["bench a.b inner=1 n=5", "data cycles 1*5", "data cycles 1*5"], "came twice"),
        (["bench a.b inner=1 n=5", "data jiffies 1*5"], "unknown series"),
        (["bench a.b inner=1 n=5", "bench a.b inner=1 n=5"], "measured before"),
        (["bench a.b inner=1 n=5", "data cycles 1*x"], "not a run"),
        (["oops 1"], "oops: there is no such record"),
        (["begin proto=9 apps=1"], "proto=1, not proto=9"),
        (["begin proto=1 apps=3"], "2 of the announced apps never began"),
    ],
)
def test_nonsense_is_named(records: list[str], problem: str) -> None:
    found = measured(encoded("a", [*records, "end ok"]))
    assert len(found.problems) == 1
    assert problem in str(found.problems[0])


def test_fail_and_skip_have_no_row() -> None:
    found = measured(
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
    assert not found.problems
    assert not rows(found)
    (failed, fail), (skipped, skip) = apps(found)["a"].no_rows
    assert (failed, fail.id, fail.params, fail.why) == (
        "fail",
        "a.b",
        {"size": 4},
        "memop returned NOMEM",
    )
    assert (skipped, skip.why) == ("skip", "no IPC here")


def test_a_parameter_may_be_called_n() -> None:
    records = ["bench a.b n=3 inner=1 n=5", "data cycles 1*5", "data instret 1*5", "end ok"]
    found = measured(encoded("a", records))
    assert not found.problems
    (row,) = rows(found)
    assert (row.params, row.asked) == ({"n": 3}, 5)


def test_a_boot_mark_tells_the_cache_setting() -> None:
    on, off = BootMark("a-1", True, "a"), BootMark("a-1", False, "a")
    records = ["begin proto=1 apps=1", "bench a.b inner=1 n=5", "data cycles 1*5", "end ok"]
    lines = [on.encode(), *encoded("a", records), off.encode(), *encoded("a", records)]
    found = measured(lines)
    assert not found.problems
    assert [(boot.name, boot.icache) for boot in found.boots] == [("a-1", True), ("a-1", False)]
    assert [samples(row) for row in rows(found)] == [{"cycles": [1] * 5}] * 2


@pytest.mark.parametrize("damage", ["", "#boot a-1 icache=on app=a *0000", "boot"])
def test_a_lost_boot_mark_lends_its_setting_to_nobody(damage: str) -> None:
    """What follows a mark that was lost is of a boot of which nothing is known."""
    begin = "begin proto=1 apps=1"
    benches = [begin, "bench x.y inner=1 n=5", "data cycles 1*5", "end ok"]
    for second in ("a", "b"):  # the same app again, and another one
        mark = BootMark("a-1", True, "a").encode()
        lines = [mark, *encoded("a", benches), damage, *encoded(second, benches)]
        found = measured(lines)
        assert [boot.icache for boot in found.boots] == [True, None]
        assert any("the mark of a boot is missing" in str(p) for p in found.problems)
        assert [len(app.rows) for _, app in found.each()] == [1, 1]


def test_a_piece_lost_across_two_boots_leaves_neither_setting() -> None:
    """The end that comes is not that of the boot that began: the rows between may be of either."""
    records = ["begin proto=1 apps=1", "bench x.y inner=1 n=5", "data cycles 1*5", "end ok"]

    def booted(icache: bool) -> list[str]:
        ends = (BootMark("a-1", icache, "a", ends).encode() for ends in (False, True))
        return [next(ends), *encoded("a", records), next(ends)]

    whole = measured([*booted(True), *booted(False)])
    assert not whole.problems
    assert [found.icache for found in whole.boots] == [True, False]
    on, off = booted(True), booted(False)
    torn = measured([*on[:2], *off[2:], *booted(True)])
    assert [found.icache for found in torn.boots] == [None, True]
    assert any("the end of the boot a-1 is missing" in str(p) for p in torn.problems)
    unmarked = measured([*on, *off[1:]])
    assert [found.icache for found in unmarked.boots] == [True, None]


def boot(lang: Lang | None, begins: str) -> list[str]:
    """A boot of one app, in the language that its marks say, and what its `begin` says besides."""
    first, last = (BootMark("a-1", True, "a", end, lang).encode() for end in (False, True))
    records = [f"begin proto=1{begins} apps=1", "bench x.y inner=1 n=5", "data cycles 1*5"]
    return [first, *encoded("a", [*records, "data instret 1*5", "end ok"]), last]


def languages(lines: list[str]) -> list[str]:
    """Of the apps, as they come."""
    return [app.lang for _, app in measured(lines).each()]


def test_a_language_is_said_by_the_begin_or_the_mark() -> None:
    for begins in ("", " lang="):
        lines = [line for lang in LANGS for line in boot(lang, begins and begins + lang)]
        assert not measured(lines).problems
        assert languages(lines) == list(LANGS)
    for says in LANGS:
        assert languages(boot(None, f" lang={says}")) == [says]
        assert languages(boot(None, f" lang={says}")[1:-1]) == [says]
    assert languages(boot(None, "")) == ["c"]  # as logs ever were


def test_a_mark_of_another_language_than_the_app_is_a_problem() -> None:
    (problem,) = measured(boot("c", " lang=rust")).problems
    assert str(problem) == "a: its begin says lang=rust, but the mark of its boot lang=c"
    assert languages(boot("c", " lang=rust")) == ["rust"]


def test_a_language_that_is_not_known_is_a_problem() -> None:
    (problem,) = measured(boot(None, " lang=zig")).problems
    assert str(problem).endswith("a: begin: lang=zig is not c or rust")
    head = boot(None, "")[0].rpartition("*")[0]
    assert decode([sealed(f"{head}lang=rust ")]) == [BootMark("a-1", True, "a", False, "rust")]
    (torn,) = decode([sealed(f"{head}lang=zig ")])
    assert isinstance(torn, Problem)


@pytest.mark.parametrize("lost", [range(1), range(2), range(7, 8), range(5, 10), range(6, 13)])
def test_in_a_log_of_two_languages_neither_lends_its_name(lost: range) -> None:
    """Of a boot whose mark or end is lost nothing is certain; the others stay as they are."""
    whole = [*boot("c", " lang=c"), *boot("rust", " lang=rust"), *boot("c", " lang=c")]
    found = measured([line for at, line in enumerate(whole) if at not in lost])
    assert any("of which language it is was lost" in str(p) for p in found.problems)
    there = [(boot.lang, app.lang, boot.closed) for boot, app in found.each()]
    assert 0 < len(there) < 3
    assert all(mark == own and closed for mark, own, closed in there)


def test_where_all_is_in_one_language_a_lost_begin_takes_nothing() -> None:
    first, _, *rest = boot(None, " lang=rust")
    others = boot(None, " lang=rust")
    assert languages([*others, first, *rest]) == ["rust", "rust"]
    assert languages([*boot(None, " lang=c"), *others, first, *rest]) == ["c", "rust"]


PANIC = "call=panic err=x.rs:12"


def test_a_row_at_which_its_app_panicked() -> None:
    records = ["begin proto=1 apps=1", "bench a.b inner=1 n=5", f"fail a.b n=3 {PANIC}"]
    found = measured(encoded("a", [*records, "end panicked"]))
    ((_, gone),) = apps(found)["a"].no_rows
    assert (gone.id, gone.params, gone.why) == ("a.b", {"n": 3}, "panicked at x.rs:12")
    (problem,) = found.problems
    assert "the app panicked: what it had not measured by then is missing" in str(problem)


@pytest.mark.parametrize("first", [False, True])
def test_an_app_that_panicked_beside_the_one_that_reports(first: bool) -> None:
    """Before that one began, or later: what it measured stays its own."""
    mark, begin, *own, end = boot(None, "")
    told = encoded("b", [f"fail panic {PANIC}", "end panicked"])
    found = measured([mark, *(told if first else ()), begin, *own[:-1], *told[2 * first :], end])
    assert "b panicked at x.rs:12" in str(found.problems[0])
    assert not [p for p in found.problems if "mark" in str(p)]
    (measured_one,) = found.boots
    assert measured_one.closed
    assert list(measured_one.apps) == ["a"]


def test_events_belong_to_their_row() -> None:
    records = ["bench a.b inner=1 n=5", "data cycles 1*5", "data instret 1*5"]
    records += ["data events (7,8) 1*2 0 0 0 0 0 0 0 5*2"]
    records += ["bench a.c inner=1 n=5", "data cycles 1*5", "end ok"]
    found = measured(encoded("a", records))
    assert not found.problems
    first, second = rows(found)
    assert (first.events_runs, second.events_runs) == ("(7,8) 1*2 0 0 0 0 0 0 0 5*2", None)


def test_the_simulators_clock_gives_its_own_samples() -> None:
    bench = "bench a.b inner=1 n=2 clock=sim from=irq to=upcall"
    begin, *rest = encoded("a", ["begin proto=1 apps=1", bench, "end ok"])
    seen = [(1, "arm"), (10, "irq"), (25, "upcall"), (40, "arm"), (50, "irq"), (61, "upcall")]
    *marks, last = [Mark(0, cycle, name).encode() for cycle, name in seen]
    whole = [begin, *marks, last, *rest]
    (row,) = rows(measured(whole))
    assert (samples(row), row.clock) == ({"cycles": [15, 11]}, "sim")
    torn = measured([begin, *marks, *rest])
    ((kind, fail),) = apps(torn)["a"].no_rows
    assert (kind, "no mark upcall" in str(fail.why)) == ("fail", True)
    ((kind, _),) = apps(measured([begin, *rest]))["a"].no_rows
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
    """Both counters of one length have as many samples; the lengths need not."""
    found = measured(encoded("a", PASSES))
    assert not found.problems
    (row,) = rows(found)
    assert (row.passes, samples_of(row, "short_cycles"), len(samples_of(row, "long_instret"))) == (
        4,
        (50,) * 3,
        4,
    )
    assert is_whole(row)


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        (" passes=4", "", "short_cycles of a row without passes"),
        ("passes=4", "passes=0", "passes=0 is not a positive number"),
        ("passes=4", "passes=4 by=reading", "by=reading, or clock=sim, or has passes"),
        ("data long_instret 60*4", "data long_instret 60*3", "another number of samples"),
        ("data long_instret", "data longer_instret", "unknown series 'longer_instret'"),
    ],
)
def test_passes_that_cannot_be(old: str, new: str, says: str) -> None:
    records = [record.replace(old, new) for record in PASSES]
    found = measured(encoded("a", records))
    assert any(says in str(problem) for problem in found.problems)
    assert not any(row.passes and is_whole(row) for row in rows(found))


def test_a_closed_record_is_whole_whatever_becomes_of_the_next_line() -> None:
    records = [*RECORDS["time"][:2], "data cycles 400 340*9 instret 100*10 .", *RECORDS["loop"][4:]]
    lines = encoded("loop", records)
    at = next(i for i, line in enumerate(lines) if " bench loop.empty " in line)
    del lines[at]
    (app,) = (app for _, app in assemble(decode(lines)).each())
    first = app.rows[0]
    assert samples(first) == {"cycles": [400, *[340] * 9], "instret": [100] * 10}
    assert not any(samples(row) for row in app.rows[1:])
