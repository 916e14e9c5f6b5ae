# SPDX-License-Identifier: Apache-2.0 OR MIT
"""What `history` shows of a campaign: a kernel's rows over its commits, with what made them jump.

A jump is one by its instructions. Its cycles are told where `judge` is sure of them, of paired
links; else it says "instructions only".
"""

from collections.abc import Sequence
from typing import Any

from tockmark.show import text
from tockmark.show.text import Table, TableColumn, figures
from tockmark_lab.over_time.commits import CampaignData, CommitPoint, CommitTrail, Jump
from tockmark_lab.over_time.history_text import TRAIL, on_track, small_plot, track_column

COUNTED = "of one operation, i-cache as the row says; cycles of one link, over its samples"
INSTRUCTIONS_ONLY = "instructions only"


def commits_text(held: CampaignData, mean: CommitTrail, trails: Sequence[CommitTrail]) -> str:
    """Show one row in full, several in a line each; above them the geometric mean."""
    lines = [*text.wrap(mean_line(mean, held), ""), ""]
    if len(trails) == 1:
        return "\n".join([*lines, *_full(trails[0]), *_gaps(held)]) + "\n"
    columns = [
        TableColumn("", 40, 0, left=True),
        *figures({"commits": 8, "first": 9, "last": 9, "change": 9, "jumps": 6}),
        TableColumn("", 0, 2, left=True),
    ]
    for setting in dict.fromkeys(one.setting for one in trails):
        same = [one for one in trails if one.setting == setting]
        table = Table(columns, ([one.name, *trail_cells(one)] for one in same), rule=text.LINE)
        lines += [*table.text(setting, f"Instructions {COUNTED}", ""), ""]
    return "\n".join([*lines, *_gaps(held)]).rstrip() + "\n"


def mean_line(mean: CommitTrail, held: CampaignData) -> str:
    """Say how far all rows together went, and what could not be measured."""
    gaps = f", {len(held.gaps)} that could not be" if held.gaps else ""
    if not mean.points:
        return f"{len(held.measured)} commits were measured{gaps}; they share no row"
    first, last = mean.ends
    went = f"instructions {text.ratio(last.instret)}, cycles {last.cycles:.2f} (one link)"
    return (
        f"geometric mean of what touches the kernel, {last.commit.title} by {first.commit.title}:"
        f" {went}; {len(held.measured)} commits were measured{gaps}"
    )


def _full(trail: CommitTrail) -> list[str]:
    counts = [point.instret for point in trail.points if point.instret is not None]
    low, high = min(counts, default=0.0), max(counts, default=0.0)
    table = Table(
        [
            TableColumn("date", 10, 0, left=True),
            TableColumn("commit", 14, 1, left=True),
            *figures({"instr": 9, "cycles": 9}),
            TableColumn("range", 15, 1),
            track_column(low, high),
        ],
        rule=text.LINE,
    )
    for point in trail.points:
        mark = "#" if point.jump else "|" if point.commit.names else "o"
        table.add(
            point.commit.date[:10],
            text.shortened(point.commit.title, 14),
            text.trimmed(point.instret, 1) if point.instret is not None else text.NONE,
            text.trimmed(point.cycles, 1),
            range_words(point),
            on_track(mark, point.instret or low, low, high),
        )
    jumps = trail.jumps
    said = f"{len(trail.points)} commits; {len(jumps) or 'no'} jump{'s' * (len(jumps) != 1)}"
    marked = [" (#)" * bool(jumps), " (|: a release)" * any(p.commit.names for p in trail.points)]
    lines = [line for jump in jumps for line in text.wrap(jump_words(jump), "  ")]
    return [*table.text(trail.name, trail.setting, COUNTED, ""), "", said + "".join(marked), *lines]


def jump_words(jump: Jump) -> str:
    """Say what jumped, by how much, and where."""
    chain = f"; toolchain {jump.head.toolchain}" if jump.built_anew else ""
    return (
        f"{jump.head.date[:10]} {jump.change:+.0f} instructions"
        f" ({text.change(jump.before, jump.after)}), {cycles_words(jump)}: {jump.where}{chain}"
    )


def cycles_words(jump: Jump) -> str:
    """Say what became of the cycles, if that is sure."""
    one = jump.judged
    if one is None or not one.sure:
        return INSTRUCTIONS_ONLY
    ends = " … ".join(text.percent(end, sign="+") for end in (one.low, one.high))
    return f"cycles {text.percent(one.estimate, sign='+')} ({ends})"


def range_words(point: CommitPoint) -> str:
    """Write the range of the cycles over samples; nothing where all are equal."""
    if point.low == point.high:
        return ""
    return f"{text.number(point.low)}–{text.number(point.high)}"


def trail_cells(trail: CommitTrail) -> list[str]:
    """Write a row in short: commits, first and last, change, how many jumps, and a small plot."""
    first, last = trail.ends
    counts = [point.instret for point in trail.points if point.instret is not None]
    return [
        str(len(trail.points)),
        *(text.number(text.rounded(one.instret)) for one in (first, last)),
        text.change(first.instret, last.instret),
        str(len(trail.jumps) or "-"),
        small_plot(thinned(counts)),
    ]


def thinned(values: Sequence[float], most: int = TRAIL) -> list[float]:
    """Return so many values at most, the first and the last among them."""
    if len(values) <= most:
        return [*values]
    return [values[round(n * (len(values) - 1) / (most - 1))] for n in range(most)]


def _gaps(held: CampaignData) -> list[str]:
    if not held.gaps:
        return []
    lines = ["", "could not be measured:"]
    for gap in sorted(held.gaps.values(), key=lambda gap: gap.commit.moment):
        said = f"{gap.commit.date[:10]} {gap.commit.title}: {gap.cause}"
        lines += text.wrap(said, "  ")
    return lines


def commits_json(mean: CommitTrail, trails: Sequence[CommitTrail], held: CampaignData) -> Any:
    """Return all of it for other programs."""
    return {
        "mean": mean,
        "rows": [
            {"row": one.name, "setting": one.setting, "points": one.points, "jumps": one.jumps}
            for one in trails
        ],
        "gaps": [{"commit": one.commit, "cause": one.cause} for one in held.gaps.values()],
    }
