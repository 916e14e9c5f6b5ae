# SPDX-License-Identifier: Apache-2.0 OR MIT
"""What judge runs and says, on committed results of several links of Tock 2.2 and of small changes
of it: links of one source are silent, changes are found, and only rows in doubt are run again.
"""

import json
import re
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from itertools import pairwise
from pathlib import Path

import pytest

from tockmark.compare.limits import Level
from tockmark.judge import engine, evidence, report
from tockmark.judge.engine import Judged
from tockmark.judge.evidence import Depth, Grown, Sizes, dearest, deepest_in
from tockmark.profile.diff import UNNAMED, Growth, SymbolSize, profile_diff
from tockmark.profile.file import Share, StoredProfile
from tockmark.result.file import load
from tockmark.result.provenance import Kernel
from tockmark.show.text import escaped
from tockmark.tests.links import KNOWN, LIMITS, layouts, pool
from tockmark.tests.trials import FURTHER, WANTED, Held, links_of, trial

FEWER = 5  # trials, where each is like another; of more links twice as many


@cache
def judged(of: str) -> Judged:
    return trial(1, of)[0]


@pytest.mark.parametrize(
    ("of", "more", "links"),
    [("tock-2.2", (FURTHER,), 24), ("tock-2.2", (), 16), ("lay1", (), 4), ("lay2", (), 4)],
)
def test_what_differs_in_layout_only_is_silent(of: str, more: tuple[Path, ...], links: int) -> None:
    assert layouts(pool(of)) + sum(layouts(load(path)) for path in more) == links
    for seed in range(2 * FEWER if more else FEWER):
        found, _, _ = trial(seed, of, more=more)
        assert found.gated.exit_code == 0, [one.row.name for one in found.gated.findings]
        assert found.moved == []


def test_a_dearer_system_call_is_found_with_its_sign() -> None:
    for seed in range(FEWER):
        found, _, _ = trial(seed, "cost")
        assert found.gated.exit_code == 3
        counted = [one for one in found.moved if one.series == "instret"]
        assert {one.change.new > one.change.base for one in counted} == {True}
        system_call = next(one for one in counted if one.row.id == "syscall.command")
        assert round(system_call.change.new - system_call.change.base) == 33
        assert re.match(r"\+3[23] instructions", full_report(found).headline)


def test_an_improvement_is_one() -> None:
    for seed in range(FEWER):
        found, _, _ = trial(seed, "save")
        assert found.gated.level < Level.HARD
        better = [one for one in found.moved if one.level is Level.BETTER]
        assert len(better) > 50
        assert {one.change.lower for one in better} == {True}
        assert "-78 instructions" in full_report(found).headline


def test_only_rows_in_doubt_are_measured_again_on_both_sides() -> None:
    for seed in range(FEWER):
        found, base, head = trial(seed)
        assert base.asked == head.asked
        assert [(first, last) for first, last, _ in base.asked] == [(0, 1), (1, 2), (2, 4)][
            : len(base.asked)
        ]
        sizes = [len(wanted.terms) for _, _, wanted in base.asked[1:]]
        assert tuple(sizes) == found.looked_again
        rows = [set(wanted.terms) for _, _, wanted in base.asked[1:]]
        assert all(later <= before for before, later in pairwise(rows))
        links = {row.name: len(row.layouts) for row in found.results[0].rows}
        assert all(links[name] > 1 for name in rows[0])
        judged = {pair.row.name for pair in found.gated.comparison.judged}
        assert {links[name] for name in judged - rows[0]} == {1}


def test_instructions_come_from_one_link() -> None:
    """More links do not change what is said of them."""
    one, four = trial(3, "cost", most=1)[0], trial(3, "cost", most=4)[0]
    counts = [
        {
            m.row.name: round(m.change.new - m.change.base)
            for m in found.moved
            if m.series != "cycles"
        }
        for found in (one, four)
    ]
    assert one.looked_again == ()
    assert counts[0].keys() == counts[1].keys()
    assert all(abs(count - counts[1][name]) <= 1 for name, count in counts[0].items())


def test_links_that_are_not_there_end_it() -> None:
    links = links_of(pool("tock-2.2"))
    base, head = Held("base", links[:2]), Held("head", links[2:3])
    found = engine.judge(base, head, WANTED, LIMITS, 8)
    assert found.gated.comparison.links == (2, 1)
    assert [last for _, last, _ in base.asked] == [1, 2, 4]
    assert found.gated.unsure


def full_report(found: Judged) -> report.Report:
    """Make a report with all parts."""
    phase = "kernel", "scheduler"
    moved = profile_diff(stored(phase, (10, 5)), stored(phase, (43, 5)))
    where = {"syscall.command icache=on": moved}
    grown = (
        Growth("kernel::new", None, SymbolSize(1, 40)),
        Growth("<script>|`@me`", SymbolSize(1, 8), None),
    )
    sizes = Sizes(
        {"flash": (1000, 1032), "RAM": (64, 64)},
        {"flash": [Grown(".text", 900, 932)], "RAM": []},
        grown,
    )
    return report.Report(
        found, ("old.elf", "new`|<b>.elf"), Path("out"), sizes, where, [Depth(500, 90)] * 2
    )


def stored(names: Sequence[str], instructions: Sequence[int]) -> StoredProfile:
    """A profile with as many functions as phases, two cycles an instruction."""
    shares = tuple(
        Share(name, {"execute": 2 * count}, count)
        for name, count in zip(names, instructions, strict=True)
    )
    return StoredProfile(
        "tockmark-profile", 2, "syscall.command", True, Kernel(), "b", shares, shares
    )


def test_the_first_line_says_what_happened() -> None:
    text = report.render(full_report(judged("cost")))
    first, *rest = text.split("\n\n")
    assert first.startswith("+33 instructions (+2.")
    assert "nothing else moved" in " ".join(first.split())
    assert re.search(r"^Regression: [1-9]\d* figures beyond a hard limit", rest[0])
    assert "+33 instructions    +66 cycles  kernel" in text
    assert "flash   1000 -> 1032 bytes: .text +32" in text
    assert "stack   the kernel's 500 bytes, as before" in text
    assert max(map(len, text.splitlines())) <= 100
    silent = report.render(full_report(judged("lay1")))
    assert silent.startswith("nothing moved beyond its layout spread")


def test_the_json_has_all_that_moved() -> None:
    found = full_report(judged("cost"))
    said = json.loads(json.dumps(report.as_json(found), allow_nan=False))
    assert said["exit_code"] == 3
    assert len(said["moved"]) == len(found.judged.moved) > report.SHOWN
    assert said["where"][0]["functions"][0]["instructions"] == [10, 43]


def test_the_comment_is_one_screen_and_the_rest_folded() -> None:
    text = report.markdown(full_report(judged("cost")))
    open_part = text.split("<details>")[0]
    assert len(open_part.splitlines()) < 20
    assert text.count("<details>") == text.count("</details>") == 4
    assert open_part.startswith("### ❌ tockmark: +33 instructions")


def test_no_name_becomes_markup() -> None:
    comment = report.markdown(full_report(judged("cost")))
    for mark in ("<script>", "<b>", "`", "@me", "new`"):
        assert mark not in comment
    hostile = "](http://x) @you #1 **b** ![i](j) <img>\n|a|\x1b[31m"
    assert not set(escaped(hostile)) & set("<>[]*|@!`\n\x1b_")


def test_the_dearest_rows_are_of_different_benchmarks() -> None:
    moved = judged("cost").moved
    rows = dearest(moved, len(moved), KNOWN)
    ids = [row.id for row in rows]
    assert len(ids) == len(set(ids)) > 10
    assert {KNOWN.benchmarks[id_].by for id_ in ids} == {"sampler"}
    assert {one.row.id for one in moved} > set(ids)
    assert dearest(moved, 3, KNOWN) == rows[:3]
    assert dearest(judged("lay1").moved, 3, KNOWN) == []


TRACE = """\
       100        100 M 20000400 00000013   1 -        x2=10001240
       101        101 M 20000404 00000013   1 -        x1=10000700 x2=10001200
       102        102 M 20000408 00000013   1 -        x2=10004000
       103        103 U 20030000 00000013   1 -        x2=100047f0
       104        104 U 20030004 00000013   1 -        x2=10004700 handler
       105        105 U 20030008 00000013   1 -        x2=00000010
       106        106 U 2003000c effd2117   1 -        x2=100040a6
       106        106 M 2000040c 00000013   1 -        x2=10001230
"""


def test_a_stack_is_as_deep_as_its_pointer_was_low() -> None:
    found = deepest_in(TRACE.splitlines(), (0x10000650, 0x10001250), [(0x10004000, 0x10004800)])
    assert found == {"kernel": 0x50, "app": 0x100}
    unknown = deepest_in(TRACE.splitlines(), None, [])
    assert unknown.total() == 0


@pytest.mark.parametrize(
    ("base", "new", "more"),
    [
        (SymbolSize(1, 100), SymbolSize(1, 112), False),  # calls that reach farther
        (SymbolSize(1, 100), SymbolSize(1, 120), True),
        (SymbolSize(1, 4000), SymbolSize(1, 4040), False),
        (SymbolSize(1, 64), SymbolSize(1, 64, 20), True),
        (None, SymbolSize(1, 2), True),
        (SymbolSize(1, 2), None, True),
        (SymbolSize(2, 40), SymbolSize(3, 44), True),
    ],
)
def test_a_symbol_counts_if_no_other_link_would_change_it(
    base: SymbolSize | None, new: SymbolSize | None, more: bool
) -> None:
    assert evidence.is_more(Growth("f", base, new)) is more


def test_stretches_without_a_symbol_are_no_news() -> None:
    assert not evidence.is_more(Growth(UNNAMED, SymbolSize(5, 900), SymbolSize(7, 901)))
    assert evidence.is_more(Growth(UNNAMED, SymbolSize(5, 900), SymbolSize(5, 990)))


def test_what_a_symbol_did_is_told() -> None:
    assert report.symbol_line(Growth("f", SymbolSize(1, 9), None)) == "f went: -9 bytes"
    assert report.symbol_line(Growth("f", None, SymbolSize(1, 0, 4))) == "f came: +4 bytes of RAM"
    assert report.symbol_line(Growth("f", SymbolSize(1, 9), SymbolSize(1, 29))) == "f: +20 bytes"


def test_the_sections_are_told_by_change() -> None:
    found = evidence.grown({"a": 10, "b": 4, "gone": 9}, {"a": 30, "b": 4, "new": 2})
    assert [(one.name, one.change) for one in found] == [("a", 20), ("gone", -9), ("new", 2)]


def test_what_is_still_in_doubt_is_said_in_the_first_line() -> None:
    found = trial(0)[0]
    assert found.gated.unsure
    many = len(found.gated.unsure)
    said = report.Report(found, ("a", "b"), Path("out"), Sizes({}, {}))
    assert re.search(rf"; {many} figures? in doubt$", said.headline)
    assert said.caveats[0].startswith(f"in doubt, {many} of cycles")
    calm = replace(found, gated=replace(found.gated, unsure=[]), looked_again=())
    said = report.Report(calm, ("a", "b"), Path("out"), Sizes({}, {}))
    assert "in doubt" not in said.headline
    assert said.caveats == []
