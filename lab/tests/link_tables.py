# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The tables of docs/method.md on links of a kernel: the smallest change that the rule finds, and
the verdicts of `judge` on stored links.

    python lab/tests/link_tables.py
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from statistics import median

from msgspec import structs

from tockmark.compare.limits import Limit
from tockmark.compare.verdict import JUDGED, MOVED, RowVerdict
from tockmark.result.model import Result, Series
from tockmark.tests.links import SIDE, judged, tried
from tockmark.tests.rows import recounted
from tockmark.tests.trials import FURTHER, SOURCE, trial

SHARES = (0.005, 0.01, 0.015, 0.02, 0.03, 0.05, 0.1)  # added cycles, as a share
COUNTS = (1, 3, 10, 33)  # added instructions
TRIALS = 20
CHANGES = ("cost", "save", "lay1", "lay2")


def changed(result: Result, cycles: float = 1, instructions: int = 0) -> Result:
    """Return the result with all cycles multiplied by a factor and instructions added, in every
    row."""

    def as_if(series: Series | None, times: float, more: float) -> Series | None:
        if series is None or series.own_net is None:
            return series
        further = tuple(other for f in series.further if (other := as_if(f, times, more)))
        return structs.replace(
            series, samples=(), published_net=series.own_net * times + more, further=further
        )

    rows = tuple(
        recounted(
            row if row.cycles and row.cycles.is_slope else row.single_pass,
            cycles=as_if(row.cycles, cycles, 0),
            instret=as_if(row.instret, 1, instructions),
        )
        for row in result.rows
    )
    return replace(result, rows=rows)


def fixed_costs(
    side: int, cycles: float = 1, instructions: int = 0
) -> dict[str, tuple[float, float]]:
    """Return the shares of the figures beyond a soft limit and beyond a hard one, by what is
    counted."""
    hits: dict[str, list[Limit]] = {}
    sizes: dict[str, int] = {}
    for base, new, rest in tried(side):
        for row in judged(base, changed(new, cycles, instructions), rest).rows_with(*JUDGED):
            limits = {"cycles": row.limit}
            if row.instructions:
                limits["instret"] = row.instructions.limit
            for name, limit in limits.items():
                kind = _kind(name, row.row.icache)
                sizes[kind] = sizes.get(kind, 0) + 1
                hits.setdefault(kind, []).append(limit)
    return {
        kind: (
            sum(limit >= Limit.SOFT for limit in hits[kind]) / size,
            hits[kind].count(Limit.HARD) / size,
        )
        for kind, size in sizes.items()
    }


def _kind(name: str, icache: bool | None) -> str:
    if name == "instret":
        return "instructions"
    return "cycles, cache off" if icache is False else "cycles, cache on"


def tables(shares: Sequence[float] = SHARES, counts: Sequence[int] = COUNTS) -> str:
    """Return the tables of the shares of rows that the rule finds, in Markdown."""
    off, on = "cycles, cache off", "cycles, cache on"
    columns = [(SIDE, off), (SIDE, on), (1, off)]
    heads = [f"{kind}, {side} a side" for side, kind in columns]
    lines = [f"| cycles of all rows | {' | '.join(heads)} |"]
    lines.append("|---|" + "---|" * len(columns))
    for share in shares:
        hits = {side: fixed_costs(side, cycles=1 + share) for side in (SIDE, 1)}
        cells = [_cell(hits[side][kind]) for side, kind in columns]
        lines.append(f"| +{share * 100:g} % | " + " | ".join(cells) + " |")
    lines += ["", "| instructions of all rows | 4 a side | 1 a side |", "|---|---|---|"]
    for count in counts:
        cells = [_cell(fixed_costs(side, instructions=count)["instructions"]) for side in (SIDE, 1)]
        lines.append(f"| +{count} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def _cell(shares: tuple[float, float]) -> str:
    return " / ".join(f"{share * 100:.0f} %" for share in shares)


def row_of(source: str, more: tuple[Path, ...] = ()) -> str:
    """Return the table's row of a kernel's trials."""
    trials = [trial(seed, source, more=more)[0] for seed in range(TRIALS)]
    codes = Counter(run.judgement.exit_code for run in trials)
    ended = ", ".join(f"{code} in {many}" for code, many in sorted(codes.items()))
    if warned := sum(run.judgement.limit is Limit.SOFT for run in trials):
        ended += f", in {warned} with a warning"
    looks = [[*run.rows_remeasured, 0, 0] for run in trials]
    figures = [
        [sum(map(_figures, run.judgement.rows)) for run in trials],
        [look[0] for look in looks],
        [look[1] for look in looks],
        [sum(row.in_doubt for row in run.judgement.rows) for run in trials],
    ]
    return f"| {source} | {ended} | " + " | ".join(map(_spanned, figures)) + " |"


def _figures(row: RowVerdict) -> int:
    """Return the number of figures of a row that certainly moved: instructions, cycles, both or
    none."""
    return bool(row.moved) + (row.verdict in MOVED)


def _spanned(figures: Sequence[int]) -> str:
    if len(set(figures)) == 1:
        return str(figures[0])
    return f"{median(figures):g} ({min(figures)} to {max(figures)})"


if __name__ == "__main__":
    print(tables())
    print(row_of(SOURCE, (FURTHER,)), flush=True)
    for name in (SOURCE, *CHANGES):
        print(row_of(name), flush=True)
