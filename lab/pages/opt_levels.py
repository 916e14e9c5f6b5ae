# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Cost and size of kernels at several opt-levels, as tables and a picture."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import product
from typing import Any

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter

from committed import CommittedResult, between, committed, number, retired, span_of
from tables import markdown
from tockmark.compare import pairs
from tockmark.compare.limits import Margins
from tockmark.compare.pairs import Mean
from tockmark.compare.spread import committed_spread
from tockmark.result.model import Row, layout_nets
from tockmark.result.provenance import unlike_benchmarks
from tockmark.show import text
from tockmark.show.text import NONE
from tockmark.site import plot
from tockmark.suite import catalogue as catalogues
from tockmark.suite.catalogue import ICACHE
from tockmark.suite.selection import select

KERNELS = {"tock-2.2": "Tock 2.2", "tock-master": "Tock master", "baseline": "baseline"}
LEVELS = ("z", "s", "2", "3")
UPSTREAM = "z"  # Tock's own
AGREED = 0.005  # as a share
DRAWN = {
    "syscall.command": "a command",
    "upcall.yield_wait": "an upcall",
    "ctx.ring processes=2 kib=0": "a hop",
}


def run(kernel: str, level: str) -> CommittedResult:
    """Return the result of one kernel at one level."""
    return committed(f"opt/{kernel}-{level}")


def flash(kernel: str, level: str) -> int:
    """Return a kernel's flash at one level, in bytes."""
    return run(kernel, level).kernel.flash_bytes or 0


@cache
def mean(
    base: CommittedResult, new: CommittedResult, icache: bool, unlike_too: bool = False
) -> Mean:
    """Return the geometric mean over all benchmarks that touch the kernel, the same as
    `tockmark compare --only 'kernel icache=on'` computes, but without those that may differ between
    the simulators of the two results, unless `unlike_too`."""
    catalogue = catalogues.load()
    first, other = (side.result.provenance.board.simulator_sha256 for side in (base, new))
    unlike = set() if unlike_too else set(unlike_benchmarks(first, other) or ())
    ids = [b.id for b in catalogue.benchmarks.values() if b.touches == "kernel"]
    only = select(
        catalogue, ",".join(f"{i} icache={ICACHE[icache]}" for i in ids if i not in unlike)
    )
    base_rows, new_rows = (side.result.only(only) for side in (base, new))
    comparison = pairs.compare(
        base_rows, new_rows, "", catalogue, Margins(), committed_spread(base.result)
    )
    assert comparison.mean is not None
    return comparison.mean


def saved(kernel: str, level: str) -> float:
    """Return the share of cycles that a level saves over upstream's, i-cache on."""
    return 1 - mean(run(kernel, UPSTREAM), run(kernel, level), True).ratio


def best_level(kernel: str) -> str:
    """Return the level that saves most cycles per extra byte of flash, relative to upstream's."""
    return max(
        (level for level in LEVELS if level != UPSTREAM),
        key=lambda level: saved(kernel, level) / (flash(kernel, level) - flash(kernel, UPSTREAM)),
    )


def separated_rows(kernel: str, base: str, new: str, icache: bool) -> tuple[int, int, int]:
    """Return three counts of kernel rows: all links at level `new` are faster than all at level
    `base`; all are slower; the total."""
    catalogue = catalogues.load()
    faster = slower = total = 0
    for (cached, name), row in run(kernel, base).rows.items():
        before, after = layout_nets(row), layout_nets(run(kernel, new).row(name, icache))
        if (
            cached is icache
            and catalogue.benchmarks[row.id].touches == "kernel"
            and before
            and after
        ):
            total += 1
            faster += max(after) < min(before)
            slower += min(after) > max(before)
    return faster, slower, total


def interval(mean: Mean) -> str:
    """Format a mean with its interval."""
    return f"{mean.ratio:.2f} ({ends(mean)})"


def ends(mean: Mean) -> str:
    """Format the interval of a mean over links."""
    return f"{mean.change.low:.2f}–{mean.change.high:.2f}"


def condition() -> str:
    """Return the number of links of each kernel and level, in words."""
    parts = []
    for kernel, title in KERNELS.items():
        counts: dict[str, list[str]] = {}
        for level in LEVELS:
            counts.setdefault(run(kernel, level).links, []).append(level)
        each = [f"{', '.join(some)}: {count}" for count, some in counts.items()]
        parts.append(f"{title} {'; '.join(each) if len(each) > 1 else next(iter(counts))}")
    return ", ".join(parts)


def summary() -> str:
    """Return a table by kernel and level: size, and means relative to upstream's level."""
    rows = []
    for kernel, level in product(KERNELS, LEVELS):
        base, this = run(kernel, UPSTREAM), run(kernel, level)
        size = flash(kernel, level)
        ratios = ["1", "1", "1"]
        if level != UPSTREAM:
            means = [interval(mean(base, this, icache)) for icache in (True, False)]
            ratios = [f"{size / flash(kernel, UPSTREAM):.2f}", *means]
        rows.append([KERNELS[kernel], level, str(this.result.links), number(size), *ratios])
    heads = ["kernel", "opt-level", "links", "flash, bytes", "×"]
    return markdown([*heads, "cycles, i-cache on, ×", "off, ×"], rows, words=(0, 1))


def _by_level(cell: Callable[[Row | None], str], icache: bool, names: Sequence[str]) -> str:
    rows = [
        [
            name if title == KERNELS["tock-2.2"] else "",
            title,
            *(cell(run(kernel, level).row(name, icache)) for level in LEVELS),
        ]
        for name, (kernel, title) in product(names, KERNELS.items())
    ]
    return markdown(["row", "kernel", *LEVELS], rows, words=(0, 1))


def cycles(names: Sequence[str], icache: bool) -> str:
    """Return a table of net cycles of one operation by level (range over links)."""
    return _by_level(span_of, icache, names)


def design(rows: Mapping[str, str], levels: Sequence[str]) -> str:
    """Return a table in µs for the designer of a product: median and range over links, i-cache on,
    of Tock 2.2 and master at some opt-levels. `rows` maps words to row names."""
    columns = [(kernel, level) for kernel in ("tock-2.2", "tock-master") for level in levels]
    heads = [f"{KERNELS[kernel]}, {level}" for kernel, level in columns]
    cells = [
        [f"{words} ({name})", *(_micros(run(kernel, level), name) for kernel, level in columns)]
        for words, name in rows.items()
    ]
    return markdown(["", *heads], cells, words=(0,))


def _micros(result: CommittedResult, name: str) -> str:
    row = result.row(name, True)
    if row is None or row.us is None:
        return NONE

    def written(us: float) -> str:
        return text.trimmed(text.three_digits(us) or 0)

    per_us = row.inner * (result.board.clock_hz or 0) / 1e6
    return f"{written(row.us)} ({span_of(row, per_us, written)})"


def instructions(names: Sequence[str]) -> str:
    """Return a table of net instructions of one operation by level."""
    return _by_level(lambda row: number(retired(row)), False, names)


def every_row() -> str:
    """Return a table of all kernel rows at upstream's level, by kernel: the first and the last row
    of each benchmark."""
    catalogue = catalogues.load()
    columns = list(product((True, False), KERNELS))
    heads = [f"{KERNELS[kernel]}, i-cache {ICACHE[icache]}" for icache, kernel in columns]
    ids = [
        benchmark.id for benchmark in catalogue.benchmarks.values() if benchmark.touches == "kernel"
    ]
    ends = [
        key for own in (catalogue.rows([id_]) for id_ in ids) for key in (own[0], *own[1:][-1:])
    ]
    rows = []
    for name in (catalogues.label(*key) for key in ends):
        cells = [run(kernel, UPSTREAM).span(name, icache) for icache, kernel in columns]
        if any(cell != "-" for cell in cells):
            rows.append([name, *cells])
    return markdown(["row", *heads], rows)


@dataclass(frozen=True)
class AppAgreement:
    """The agreement of the rows that run no kernel code between kernels, with one cache setting."""

    equal: int  # within AGREED or one cycle a sample
    total: int
    widest: str  # the row with the largest ratio between two kernels
    ends: str  # its least and its most net cycles of one operation


@cache
def agreement(icache: bool) -> AppAgreement:
    """Return the agreement of the app rows in C between one link of each kernel."""
    results = [committed(f"{kernel}-cw310") for kernel in KERNELS]
    catalogue = catalogues.load()
    ends = {}
    for (cached, name), row in results[0].rows.items():
        rows = [result.row(name, icache) for result in results]
        nets = [each.net for each in rows if each is not None and each.sound and each.net]
        of_app = catalogue.benchmarks[row.id].touches == "app"
        if cached is icache and of_app and len(nets) == len(results) and min(nets) > 0:
            ends[name] = (min(nets), max(nets), row.inner)
    equal = [most - least <= max(1, AGREED * least) for least, most, _ in ends.values()]
    widest = max(ends, key=lambda name: ends[name][1] / ends[name][0])
    least, most, inner = ends[widest]
    return AppAgreement(sum(equal), len(ends), widest, between([least / inner, most / inner]))


# Where the letters of levels are, in points from their marks, so that none covers another.
OFFSETS = {
    "tock-2.2": {"z": (6, 1), "s": (-10, -7), "2": (-4, -12), "3": (4, -9)},
    "tock-master": {"z": (-10, -4), "s": (6, 2), "2": (-1, 6), "3": (4, 3)},
}


def picture() -> bytes:
    """Draw cycles against flash as SVG: a point per kernel and level, with its range over links.
    The same results give the same bytes."""
    with mpl.rc_context(plot.STYLE):
        board = run(next(iter(KERNELS)), UPSTREAM).board
        notes = [
            "results/opt: " + ", ".join(f"{kernel}-{{{','.join(LEVELS)}}}" for kernel in KERNELS),
            f"links: {condition()} · {board.title}, {board.clock} · timing: {board.validity}",
        ]
        sheet = plot.Sheet("Speed against size, by opt-level", notes, len(DRAWN), 2, 2.1)
        for (name, icache), axes in zip(product(DRAWN, (True, False)), sheet.panels, strict=True):
            top = 0.0
            for style, kernel in zip(plot.STYLES, KERNELS, strict=False):
                rows = [run(kernel, level).row(name, icache) for level in LEVELS]
                top = max(top, _curve(axes, kernel, rows, style))
            axes.set_title(f"{DRAWN[name]}, i-cache {ICACHE[icache]}", fontsize=8.5)
            axes.set_ylim(0, top * 1.12)
            axes.set_xlim(0, axes.dataLim.x1 * 1.1)
            axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))
        for row in sheet.grid:
            row[0].set_ylabel("net cycles of\none operation")
        for axes in sheet.grid[-1]:
            axes.set_xlabel("flash of the kernel, KiB")
        handles, labels = sheet.panels[0].get_legend_handles_labels()
        sheet.body.legend(handles, labels, loc="outside lower center", ncols=len(KERNELS))
        return plot.rendered(sheet.figure, "svg")


def _curve(axes: Axes, kernel: str, rows: list[Row | None], style: dict[str, Any]) -> float:
    """Draw one kernel into a panel, with the names of its levels; return its largest cycles."""
    x = [flash(kernel, level) / 1024 for level in LEVELS]
    y = [(row.per_op if row else None) or 0.0 for row in rows]
    ranges = [(min(layout_nets(row)), max(layout_nets(row))) for row in rows]
    bars = [
        [at - least for at, (least, _) in zip(y, ranges, strict=True)],
        [most - at for at, (_, most) in zip(y, ranges, strict=True)],
    ]
    axes.errorbar(x, y, yerr=bars, label=KERNELS[kernel], capsize=2.5, elinewidth=1, **style)
    # The baseline's points are too close for four letters.
    offsets = OFFSETS.get(kernel, dict.fromkeys((LEVELS[0], LEVELS[-1]), (6, 1)))
    for level, *point in zip(LEVELS, x, y, strict=True):
        if level in offsets:
            axes.annotate(
                level,
                (point[0], point[1]),
                offsets[level],
                textcoords="offset points",
                fontsize=8,
                color=style["color"],
            )
    return max(most for _, most in ranges)
