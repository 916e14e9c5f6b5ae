# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Tock over its commits, for the study history: the cost of a release and of the newest commit, the
commits at which rows jump, and the effect of new toolchains.

The figures come from a campaign (lab/data/tock-history.jsonl). The causes of jumps were read in
Tock's source (lab/data/causes.toml).
"""

import tomllib
from collections.abc import Iterator
from functools import cache
from itertools import pairwise

from markupsafe import Markup

from committed import number, pair_ratios, percents, span_of
from tables import markdown
from tockmark.result import file
from tockmark.result.model import Result, Row
from tockmark.show import text
from tockmark.suite import catalogue as catalogues
from tockmark_lab.folders import DATA
from tockmark_lab.over_time.commits import (
    CampaignData,
    CommitTrail,
    Jump,
    MeasuredCommit,
    largest,
    load_campaign,
)
from tockmark_lab.over_time.commits_text import INSTRUCTIONS_ONLY, ONE_LINK, cycles_words

FILE = DATA / "tock-history.jsonl"
CAUSES = DATA / "causes.toml"
# The rows whose jumps were followed to single commits.
ROWS = (
    "syscall.command",
    "syscall.memop",
    "syscall.yield_no_wait",
    "upcall.yield_wait",
    "ipc.client_to_server",
    "console.write size=1",
)
CLOCKED = ("irq.upcall core=asleep",)  # has no instructions; its jumps are of cycles
OFF = " icache=off"
ORIGINS = ("by commits", "by toolchains", "unknown")


@cache
def history() -> CampaignData:
    """Return the campaign's measurements."""
    history, problems = load_campaign(FILE)
    assert not problems, problems
    return history


@cache
def mean() -> CommitTrail:
    return history().mean(catalogues.load())


def release(name: str) -> MeasuredCommit:
    """Return the measurement of a release."""
    return next(commit for commit in history().all_commits if name in commit.commit.names)


def newest() -> MeasuredCommit:
    """Return the last commit of the mainline that has all rows."""
    wanted = mean().ends[1].commit.sha
    return history().measured[wanted]


def mean_since(name: str, series: str) -> str:
    """Format the geometric mean of the newest commit relative to a release."""
    by_sha = {point.commit.sha: getattr(point, series) for point in mean().points}
    return text.ratio(by_sha[newest().commit.sha] / by_sha[release(name).commit.sha])


def _code(words: str) -> Markup:
    return Markup(f"`{words}`")


def _count(of: MeasuredCommit, row: str) -> float | None:
    counts = of.rows.get(row + OFF)
    return None if counts is None or counts.instret is None else counts.instret / counts.inner


def _figure(of: MeasuredCommit, row: str) -> float | None:
    """Return the instructions of one operation, or the cycles of a row of the clock."""
    if row in CLOCKED and row + OFF in of.rows:
        return of.rows[row + OFF].cycles / of.rows[row + OFF].inner
    return _count(of, row)


def since(name: str) -> str:
    """Return a table of a release and the newest commit: instructions (cycles of CLOCKED), their
    change, and the sum of the jumps between them by origin; then flash and RAM."""
    old, new = release(name), newest()
    jumps = [
        jump for jump in history().jumps() if (jump.head.place or 0) <= (new.commit.place or 0)
    ]
    lines = []
    for row in (*ROWS, *CLOCKED):
        ends = [_figure(of, row) for of in (old, new)]
        if None in ends:
            continue
        sums = [
            sum(jump.change for jump in jumps if jump.row == row + OFF and origin(jump) == of_kind)
            for of_kind in ORIGINS
        ]
        lines.append(
            [
                _code(row) + ", cycles" * (row in CLOCKED),
                *map(number, ends),
                text.change(*ends),
                *(f"{total:+.0f}" for total in sums),
            ]
        )
    for what, field in (("flash, bytes", "flash_bytes"), ("RAM, bytes", "ram_bytes")):
        sizes = [getattr(of.kernel, field) for of in (old, new)]
        lines.append([what, *map(number, sizes), text.change(*sizes), "", "", ""])
    heads = ["row", name.removeprefix("release-"), new.commit.title, "change"]
    return markdown([*heads, *ORIGINS], lines)


def origin(jump: Jump) -> str:
    """Return the origin of a jump, one of ORIGINS."""
    return ORIGINS[2 if not jump.exact else 1 if jump.built_anew else 0]


def largest_jumps(increases: bool, limit: int = 5) -> list[Jump]:
    """Return at most `limit` of the largest increases or decreases with a known commit, one per
    commit."""
    some = [
        jump
        for jump in history().jumps()
        if origin(jump) == ORIGINS[0] and (jump.change > 0) is increases
    ]
    jumps = largest(some, [row + OFF for row in (*ROWS, *CLOCKED)])
    return jumps[:limit] if increases else jumps[::-1][:limit]


@cache
def causes() -> dict[str, str]:
    """Return the causes of jumps by short commit hash."""
    causes_by_commit: dict[str, str] = tomllib.loads(CAUSES.read_text(encoding="utf-8"))["causes"]
    return causes_by_commit


def check(jump: Jump) -> str:
    """Return the command that shows a jump."""
    row = jump.row.removesuffix(OFF).replace(" ", ":")
    return f"tockmark judge TREE {jump.base.short} {jump.head.short} --only {row}"


def jump_table(increases: bool) -> str:
    """Return a table of the largest increases or decreases, with cause, size, functions and a
    command to check each."""
    lines = []
    for jump in largest_jumps(increases):
        pull = f", #{jump.head.pull}" if jump.head.pull else ""
        cause = causes().get(jump.head.short) or text.escaped(jump.head.subject)
        cycles = cycles_words(jump)
        lines.append(
            [
                Markup(f"{jump.head.short}{pull}: {cause}"),  # the causes are Markdown of ours
                _code(jump.row.removesuffix(OFF)),
                _size(jump) if jump.unit == "instructions" else "-",
                _size(jump) if cycles == ONE_LINK else _sure(cycles),
                jump.judged.where if jump.judged and jump.judged.where else "-",
                _code(check(jump)),
            ]
        )
    heads = ["commit", "row", "instructions", "cycles, i-cache off", "functions", "check"]
    return markdown(heads, lines, words=(0, 1, 4, 5))


@cache
def expired(side: str) -> Result:
    """Return master's upcalls of interrupts without ("base") and with ("head") the line of #4590
    that ignores expired alarms."""
    return file.load(DATA / "earliest-alarm" / f"{side}.json")


def _asleep(side: str) -> Row:
    rows = expired(side).rows
    return next(row for row in rows if row.label == CLOCKED[0] and row.icache is False)


def expired_cycles(side: str) -> str:
    """Format the cycles of the upcall of a sleeping core, i-cache off (range over links)."""
    return span_of(_asleep(side))


def expired_saving() -> str:
    """Format the share of these cycles that the line saves (range over pairs of links)."""
    return percents([1 - ratio for ratio in pair_ratios(_asleep("base"), _asleep("head"))])


def _size(jump: Jump) -> str:
    return f"{jump.change:+,.0f} ({text.change(jump.before, jump.after)})"


def _sure(cycles: str) -> str:
    return "-" if cycles == INSTRUCTIONS_ONLY else cycles.removeprefix("cycles ")


def toolchains() -> str:
    """Return a table of the change by each new toolchain, between the commit that brought it and
    its first parent; empty if no such pair was measured."""
    lines = []
    for base, head in _neighbours():
        if base.commit.toolchain != head.commit.toolchain and head.commit.toolchain:
            pull = f", #{head.commit.pull}" if head.commit.pull else ""
            changes = (
                f"{b - a:+.0f}" if a is not None and b is not None else "-"
                for a, b in ((_count(base, row), _count(head, row)) for row in ROWS)
            )
            lines.append([f"{head.commit.toolchain} ({head.commit.short}{pull})", *changes])
    return markdown(["toolchain", *map(_code, ROWS)], lines) if lines else ""


def _neighbours() -> Iterator[tuple[MeasuredCommit, MeasuredCommit]]:
    for base, head in pairwise(history().line):
        if (head.commit.place or 0) - (base.commit.place or 0) == 1:
            yield base, head


def unexplained_jumps() -> list[Jump]:
    """Return the jumps of more than 20 instructions, or of cycles, whose commit is not known."""
    shown = [row + OFF for row in (*CLOCKED, *ROWS)]
    jumps = [jump for jump in history().jumps(20) if not jump.exact and jump.row in shown]
    return sorted(jumps, key=lambda jump: -abs(jump.share))
