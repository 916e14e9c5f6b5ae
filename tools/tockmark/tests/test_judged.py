# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Judge committed results of several links of Tock 2.2, and of small changes of it.

Links of one source have no findings, changes are reported, and only rows in doubt run again.
"""

import json
import re
from collections.abc import Sequence
from functools import cache
from itertools import groupby, pairwise
from pathlib import Path

import pytest

from tockmark.compare.limits import Limit
from tockmark.compare.verdict import JUDGED, Verdict
from tockmark.judge import engine, report
from tockmark.judge.engine import JudgeRun
from tockmark.judge.report import Depth, SectionChange, Sizes
from tockmark.profile.diff import Growth, SymbolSize, diff_profiles
from tockmark.profile.file import Share, StoredProfile
from tockmark.result.file import load
from tockmark.result.provenance import Kernel
from tockmark.show.judgement import MOST, first_line, headline, table_lines
from tockmark.show.text import escaped
from tockmark.tests.links import KNOWN, LIMITS, layouts, pool
from tockmark.tests.of_samples import made, of_links, spread, steady
from tockmark.tests.trials import FURTHER, WANTED, Held, links_of, trial

FEWER = 3  # trials per test, each with its own seed


@cache
def judged(of: str) -> JudgeRun:
    return trial(1, of)[0]


@pytest.mark.parametrize(
    ("of", "more", "links"),
    [("tock-2.2", (FURTHER,), 24), ("lay1", (), 4), ("lay2", (), 4)],
)
def test_a_change_of_layout_alone_is_not_reported(
    of: str, more: tuple[Path, ...], links: int
) -> None:
    assert layouts(pool(of)) + sum(layouts(load(path)) for path in more) == links
    for seed in range(FEWER):
        run, _, _ = trial(seed, of, more=more)
        assert run.judgement.exit_code == 0, [row.row.name for row in run.judgement.moved]
        assert run.judgement.moved == []


def test_a_more_expensive_system_call_is_reported_with_its_sign() -> None:
    for seed in range(FEWER):
        run, _, _ = trial(seed, "cost")
        assert run.judgement.exit_code == 3
        counted = [row for row in run.judgement.moved if row.moved]
        assert {row.moved > 0 for row in counted} == {True}
        system_call = next(row for row in counted if row.row.id == "syscall.command")
        assert round(system_call.moved) == 33
        assert re.search(r"\+3[23] ", first_line_of(run))


def test_an_improvement_is_reported() -> None:
    for seed in range(FEWER):
        run, _, _ = trial(seed, "save")
        assert run.judgement.limit < Limit.HARD
        assert run.judgement.rows_with(Verdict.WORSE) == []
        assert len([row for row in run.judgement.moved if row.moved < 0]) > 50
        assert "-78" in first_line_of(run)


def test_only_rows_in_doubt_are_measured_again_on_both_sides() -> None:
    for seed in range(FEWER):
        run, base, head = trial(seed)
        assert base.asked == head.asked
        assert [(first, last) for first, last, _ in base.asked] == [(0, 1), (1, 2), (2, 4)][
            : len(base.asked)
        ]
        sizes = [len(wanted.terms) for _, _, wanted in base.asked[1:]]
        assert tuple(sizes) == run.rows_remeasured
        rows = [set(wanted.terms) for _, _, wanted in base.asked[1:]]
        assert all(later <= before for before, later in pairwise(rows))
        links = {row.name: len(row.layouts) for row in run.results[0].rows}
        assert all(links[name] > 1 for name in rows[0])
        judged = {row.row.name for row in run.judgement.rows_with(*JUDGED)}
        assert {links[name] for name in judged - rows[0]} == {1}


def test_instructions_come_from_one_link() -> None:
    """More links do not change their verdict."""
    by_one, by_four = trial(3, "cost", most=1)[0], trial(3, "cost", most=4)[0]
    counts = [
        {row.row.name: round(row.moved) for row in run.judgement.moved if row.moved}
        for run in (by_one, by_four)
    ]
    assert by_one.rows_remeasured == ()
    assert counts[0].keys() == counts[1].keys()
    assert all(abs(count - counts[1][name]) <= 1 for name, count in counts[0].items())


def test_judge_ends_when_there_are_no_more_links() -> None:
    links = links_of(pool("tock-2.2"))
    base, head = Held("base", links[:2]), Held("head", links[2:3])
    run = engine.measure_and_judge(base, head, WANTED, LIMITS, 8)
    assert run.comparison.links == (2, 1)
    assert [last for _, last, _ in base.asked] == [1, 2, 4]
    assert any(row.in_doubt for row in run.judgement.rows)


def full_report(run: JudgeRun) -> report.Report:
    """Return a report with all parts."""
    phase = "kernel", "scheduler"
    moved = diff_profiles(stored(phase, (10, 5)), stored(phase, (43, 5)))
    where = {"syscall.command icache=on": moved}
    grown = (
        Growth("kernel::new", None, SymbolSize(1, 40)),
        Growth("<script>|`@me`", SymbolSize(1, 8), None),
    )
    sizes = Sizes(
        {"flash": (1000, 1032), "RAM": (64, 64)},
        {"flash": [SectionChange(".text", 900, 932)], "RAM": []},
        grown,
    )
    return report.Report(
        run, ("old.elf", "new`|<b>.elf"), Path("out"), sizes, where, [Depth(500, 90)] * 2
    )


def stored(names: Sequence[str], instructions: Sequence[int]) -> StoredProfile:
    """Return a profile with one function per phase and two cycles per instruction."""
    shares = tuple(
        Share(name, {"execute": 2 * count}, count)
        for name, count in zip(names, instructions, strict=True)
    )
    return StoredProfile(
        "tockmark-profile", 2, "syscall.command", True, Kernel(), "b", shares, shares
    )


def first_line_of(run: JudgeRun) -> str:
    """Return the first line of the report."""
    return first_line(full_report(run).judgement)


@pytest.mark.parametrize(("of", "width"), [("cost", 80), ("save", 120), ("lay1", 80)])
def test_the_table_has_40_lines_and_every_row_is_in_it(of: str, width: int) -> None:
    judgement = full_report(judged(of)).judgement
    lines = table_lines(judgement, width)
    assert len(lines) <= MOST
    assert max(map(len, lines)) <= width
    text = " ".join(" ".join(lines).split())
    counted = [int(many) for many in re.findall(r"(\d+) (?:worse|better|unsure|same) [-+0]", text)]
    (folded,) = (int(line.split()[0]) for line in lines if "rows are folded; --all" in line)
    assert sum(counted) == folded
    assert len(judgement.rows) - folded == sum("→" in line for line in lines) - 1  # the heading
    every = table_lines(judgement, width, every=True)
    assert sum("→" in line for line in every) - 1 == len(judgement.rows) > 100
    assert not any("folded" in line for line in every)
    groups = [row.group for row in judgement.rows]
    assert len(list(groupby(groups))) == len(set(groups))  # no group occurs twice


def test_the_json_has_all_rows_that_moved() -> None:
    full = full_report(judged("cost"))
    document = json.loads(json.dumps(report.as_json(full), allow_nan=False))
    assert document["exit_code"] == 3
    assert (
        sum(bool(row["instructions"]["moved"]) for row in document["rows"] if row["instructions"])
        > 100
    )
    assert len(document["rows"]) > 100
    assert document["told"] == headline(full.judgement)
    assert document["where"][0]["functions"][0]["instructions"] == [10, 43]
    assert {
        row["where"] for row in document["rows"] if row["row"].startswith("syscall.command ")
    } == {"kernel"}


def test_the_comment_is_one_screen_and_the_rest_folded() -> None:
    text = report.markdown(full_report(judged("cost")))
    open_part = text.split("<details>")[0]
    assert len(open_part.splitlines()) < 60
    assert text.count("<details>") == text.count("</details>") == 4
    assert open_part.startswith("### ❌ tockmark: Regression: +33 instructions")
    assert "rows</summary>" in text


def test_a_small_unsure_change_has_row_estimate_and_range() -> None:
    """ELFs are not paired. Text, JSON and comment all show the change."""
    sides = link(248, 118, "a"), link(255, 122, "b")
    judged = engine.measure_and_judge(*sides, WANTED, LIMITS, spread=spread(0.02))
    full = report.Report(judged, ("old.elf", "new.elf"), Path("out"), Sizes({}, {}))
    text = report.render(full)
    document = json.loads(json.dumps(report.as_json(full), allow_nan=False))
    title = text.splitlines()[0]
    assert title.startswith("Regression: the base is incomplete; ")
    assert "; +4 instructions on " in title
    (line,) = (line for line in text.splitlines() if line.startswith("syscall.command "))
    figures = r"248 → 255 +\+2\.8 % \((-\d+\.\d) … (\+\d+\.\d)\) +unsure +\+4!!"
    seen = re.search(figures, line)
    assert seen, line
    assert float(seen[1]) < 0 < 2.8 < float(seen[2])
    (row,) = (row for row in document["rows"] if row["in_doubt"])
    assert row["row"] == "syscall.command icache=on"
    assert (row["before"], row["after"], row["verdict"]) == (248, 255, "unsure")
    assert round(row["estimate"], 3) == 0.028
    assert (round(100 * row["low"], 1), round(100 * row["high"], 1)) == (
        float(seen[1]),
        float(seen[2]),
    )
    assert row["instructions"]["moved"] == 4
    cells = "| `syscall.command` | on | 248 → 255 | +2.8 % | "
    comment = report.markdown(full).partition("<details>")[0]
    (cell,) = (line for line in comment.splitlines() if line.startswith(cells))
    assert f"({seen[1]} … {seen[2]})" in cell
    assert "| unsure | +4" in cell


def link(
    net: int, instructions: int, sha256: str, later: int | None = None, icache: bool = True
) -> Held:
    """Return links of a kernel whose command takes `net` cycles, and `instructions` on top of the
    84 of a counter read. In all links but the first, it takes `later` cycles."""
    links = []
    for number, cycles in enumerate([net] if later is None else [net] + [later] * 7):
        kernel = Kernel("one 1.0", "one.elf", f"{sha256}{number}" * 32)
        rows, counts = {"syscall.command": steady(cycles)}, {"syscall.command": 84 + instructions}
        result = made(KNOWN, rows, instret=counts, kernel=kernel, icache=(icache,))
        links.append((of_links([result]), 0))
    return Held(sha256, links)


def test_names_are_escaped_in_markdown() -> None:
    comment = report.markdown(full_report(judged("cost")))
    for mark in ("<script>", "<b>", "|`", "@me", "new`"):
        assert mark not in comment
    hostile = "](http://x) @you #1 **b** ![i](j) <img>\n|a|\x1b[31m"
    assert not set(escaped(hostile)) & set("<>[]*|@!`\n\x1b_")


@pytest.mark.parametrize(
    ("base", "new", "more"),
    [
        (SymbolSize(1, 100), SymbolSize(1, 112), False),  # calls over longer distances
        (SymbolSize(1, 100), SymbolSize(1, 120), True),
        (SymbolSize(1, 4000), SymbolSize(1, 4040), False),
        (SymbolSize(1, 64), SymbolSize(1, 64, 20), True),
        (None, SymbolSize(1, 2), True),
        (SymbolSize(1, 2), None, True),
        (SymbolSize(2, 40), SymbolSize(3, 44), True),
    ],
)
def test_a_symbol_is_listed_if_a_new_link_would_not_explain_its_size(
    base: SymbolSize | None, new: SymbolSize | None, more: bool
) -> None:
    assert report.exceeds_linker_noise(Growth("f", base, new)) is more
