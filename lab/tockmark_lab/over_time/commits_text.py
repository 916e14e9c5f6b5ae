# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The output of `history` for a campaign: a kernel's rows over its commits, and their jumps.

A jump is a change of instructions, or of cycles in rows without instructions. The change of cycles
of the former is shown if `judge` is sure of it, from paired links; else "instructions only".
"""

from collections.abc import Sequence
from typing import Any

from tockmark.show import text
from tockmark.show.text import Table, TableColumn, figures
from tockmark_lab.over_time.commits import CampaignData, CommitPoint, CommitTrail, Jump
from tockmark_lab.over_time.history_text import (
    TRAIL,
    most_changed,
    on_track,
    small_plot,
    track_column,
)

COUNTED = "of one operation, i-cache as the row says; cycles of one link, over its samples"
INSTRUCTIONS_ONLY = "instructions only"
ONE_LINK = "one link"


def commits_text(
    data: CampaignData, mean: CommitTrail, trails: Sequence[CommitTrail], every: bool = False
) -> str:
    """Format one row in full, or several with a line each, below the geometric mean; `every`: all
    rows that jump."""
    lines = [*text.wrap(mean_line(mean, data), ""), ""]
    if len(trails) == 1:
        return "\n".join([*lines, *_full(trails[0]), *_gaps(data)]) + "\n"
    columns = [
        TableColumn("", 30, 0, left=True),
        *figures({"commits": 7, "first": 7, "last": 7, "change": 7, "jumps": 5}, spare=("jumps",)),
        TableColumn("trend", TRAIL, 2, left=True, spare=2),
    ]
    trails, folded = most_changed(
        trails, lambda trail: (trail.ends[0].figure, trail.ends[1].figure), every
    )
    for setting in dict.fromkeys(trail.setting for trail in trails):
        same = [trail for trail in trails if trail.setting == setting]
        table = Table(columns, ([trail.name, *trail_cells(trail)] for trail in same))
        lines += [*table.text(setting, f"Instructions (else cycles) {COUNTED}", ""), ""]
    return "\n".join([*lines, *folded, *_gaps(data)]).rstrip() + "\n"


def mean_line(mean: CommitTrail, data: CampaignData) -> str:
    """Format the change of the geometric mean, and how many commits could not be measured."""
    gaps = f", {len(data.gaps)} that could not be" if data.gaps else ""
    if not mean.points:
        return f"{len(data.measured)} commits were measured{gaps}; they share no row"
    first, last = mean.ends
    went = f"instructions {text.ratio(last.instret)}, cycles {last.cycles:.2f} (one link)"
    return (
        f"geometric mean of what touches the kernel, {last.commit.title} by {first.commit.title}:"
        f" {went}; {len(data.measured)} commits were measured{gaps}"
    )


def _full(trail: CommitTrail) -> list[str]:
    counts = [point.figure for point in trail.points]
    low, high = min(counts, default=0.0), max(counts, default=0.0)
    table = Table(
        [
            TableColumn("date", 10, 0, left=True),
            TableColumn("commit", 14, 1, left=True),
            *figures({"instr": 9, "cycles": 9}),
            TableColumn("range", 15, 1),
            track_column(low, high),
        ]
    )
    for point in trail.points:
        mark = "#" if point.jump else "|" if point.commit.names else "o"
        table.add(
            point.commit.date[:10],
            point.commit.title,
            text.trimmed(point.instret, 1) if point.instret is not None else text.NONE,
            text.trimmed(point.cycles, 1),
            range_words(point),
            on_track(mark, point.figure, low, high),
        )
    jumps = trail.jumps
    summary = f"{len(trail.points)} commits; {len(jumps) or 'no'} jump{'s' * (len(jumps) != 1)}"
    marked = [" (#)" * bool(jumps), " (|: a release)" * any(p.commit.names for p in trail.points)]
    lines = [line for jump in jumps for line in text.wrap(jump_words(jump), "  ")]
    return [
        *table.text(trail.name, trail.setting, COUNTED, ""),
        "",
        summary + "".join(marked),
        *lines,
    ]


def jump_words(jump: Jump) -> str:
    """Format a jump: its size and its commit."""
    chain = f"; toolchain {jump.head.toolchain}" if jump.built_anew else ""
    return (
        f"{jump.head.date[:10]} {jump.change:+.0f} {jump.unit}"
        f" ({text.change(jump.before, jump.after)}), {cycles_words(jump)}: {jump.where}{chain}"
    )


def cycles_words(jump: Jump) -> str:
    """Format the change of cycles, if paired links make it certain."""
    verdict = jump.judged
    if verdict is None or not verdict.sure:
        return ONE_LINK if jump.unit == "cycles" else INSTRUCTIONS_ONLY
    ends = " … ".join(text.percent(end, sign="+") for end in (verdict.low, verdict.high))
    return f"cycles {text.percent(verdict.estimate, sign='+')} ({ends})"


def range_words(point: CommitPoint) -> str:
    """Format the range of the cycles over samples; empty if all are equal."""
    if point.low == point.high:
        return ""
    return f"{text.number(point.low)}–{text.number(point.high)}"


def trail_cells(trail: CommitTrail) -> list[str]:
    """Return a row's cells: commits, first and last, change, number of jumps, and a small plot."""
    first, last = trail.ends
    counts = [point.figure for point in trail.points]
    return [
        str(len(trail.points)),
        *(text.number(text.rounded(end.figure)) for end in (first, last)),
        text.change(first.figure, last.figure),
        str(len(trail.jumps) or "-"),
        small_plot(thinned(counts)),
    ]


def thinned(values: Sequence[float], most: int = TRAIL) -> list[float]:
    """Return at most `most` values, with the first and the last among them."""
    if len(values) <= most:
        return [*values]
    return [values[round(n * (len(values) - 1) / (most - 1))] for n in range(most)]


def _gaps(data: CampaignData) -> list[str]:
    if not data.gaps:
        return []
    lines = ["", "could not be measured:"]
    for gap in sorted(data.gaps.values(), key=lambda gap: gap.commit.moment):
        line = f"{gap.commit.date[:10]} {gap.commit.title}: {gap.cause}"
        lines += text.wrap(line, "  ")
    return lines


def commits_json(mean: CommitTrail, trails: Sequence[CommitTrail], data: CampaignData) -> Any:
    """Return all of it as JSON."""
    return {
        "mean": mean,
        "rows": [
            {
                "row": trail.name,
                "setting": trail.setting,
                "points": trail.points,
                "jumps": trail.jumps,
            }
            for trail in trails
        ],
        "gaps": [{"commit": gap.commit, "cause": gap.cause} for gap in data.gaps.values()],
    }
