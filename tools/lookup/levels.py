# SPDX-License-Identifier: Apache-2.0 OR MIT
"""One kernel at several opt-levels: what it costs and how large it is, in tables and a picture."""

from collections.abc import Callable, Sequence
from functools import cache
from itertools import product

import matplotlib as mpl
from matplotlib.ticker import FuncFormatter

from lookup.figures import between, nets, number, retired
from lookup.runs import Run
from tockmark.compare import pairs, rule
from tockmark.compare.limits import Margins
from tockmark.compare.pairs import Mean
from tockmark.result.model import Row
from tockmark.show import plot
from tockmark.suite import catalogue as catalogues
from tockmark.suite.catalogue import ICACHE
from tockmark.suite.selection import select

KERNELS = {"tock-2.2": "Tock 2.2", "tock-master": "Tock master", "baseline": "baseline"}
LEVELS = ("z", "s", "2", "3")
UPSTREAM = "z"  # Tock's own
DRAWN = {
    "syscall.command": "a command",
    "upcall.yield_wait": "an upcall",
    "ctx.ring processes=2 kib=0": "a hop",
}


@cache
def run(kernel: str, level: str) -> Run:
    """One kernel at one level."""
    return Run(f"opt/{kernel}-{level}")


@cache
def mean(base: Run, new: Run, icache: bool) -> Mean:
    """The geometric mean of all benchmarks that touch the kernel, as `tockmark compare --only
    'kernel icache=on'` has it."""
    known = catalogues.load()
    only = select(known, f"kernel icache={ICACHE[icache]}")
    limits = rule.known_spread(base.result)
    found = pairs.compare(base.result, new.result, "", known, Margins(), limits, only=only)
    assert found.mean is not None
    return found.mean


def cheapest(kernel: str) -> str:
    """The level above upstream's that saves most of the cycles, i-cache on, a byte of flash."""

    def saved(level: str) -> float:
        base, this = run(kernel, UPSTREAM), run(kernel, level)
        more = (this.kernel.flash_bytes or 0) - (base.kernel.flash_bytes or 0)
        return (1 - mean(base, this, True).ratio) / more

    return max((level for level in LEVELS if level != UPSTREAM), key=saved)


def apart(kernel: str, one: str, two: str, icache: bool) -> tuple[int, int, int]:
    """Of the rows that touch the kernel: in how many each link at the second level takes less than
    each at the first, in how many more, and how many there are."""
    known = catalogues.load()
    less = more = whole = 0
    for (cached, name), row in run(kernel, one).rows.items():
        before, after = nets(row), nets(run(kernel, two).row(name, icache))
        if cached is icache and known.benchmarks[row.id].touches == "kernel" and before and after:
            whole += 1
            less += max(after) < min(before)
            more += min(after) > max(before)
    return less, more, whole


def interval(found: Mean) -> str:
    """A mean with its interval."""
    return f"{found.ratio:.2f} ({ends(found)})"


def ends(found: Mean) -> str:
    """Where a mean may lie, over the links."""
    return f"{found.low:.2f}–{found.high:.2f}"


def condition(kernels: Sequence[str] = tuple(KERNELS)) -> str:
    """How many links stand behind each column, in words."""
    parts = []
    for kernel in kernels:
        counts = {level: run(kernel, level).links for level in LEVELS}
        said = dict.fromkeys(counts.values())
        each = [f"{', '.join(k for k in LEVELS if counts[k] == c)}: {c}" for c in said]
        parts.append(f"{KERNELS[kernel]} {'; '.join(each) if len(each) > 1 else counts[UPSTREAM]}")
    return ", ".join(parts)


def summary() -> str:
    """Each kernel and level: size, and the means against upstream's level of the same kernel."""
    lines = [
        "| kernel | opt-level | links | flash, bytes | × | cycles, i-cache on, × | off, × |",
        "|---|---|--:|--:|--:|--:|--:|",
    ]
    for kernel, level in product(KERNELS, LEVELS):
        base, this = run(kernel, UPSTREAM), run(kernel, level)
        size, own = base.kernel.flash_bytes, this.kernel.flash_bytes
        assert size is not None
        assert own is not None
        ratios = ["1", "1", "1"]
        if level != UPSTREAM:
            ratios = [f"{own / size:.2f}", *(interval(mean(base, this, i)) for i in (True, False))]
        cells = [KERNELS[kernel], level, str(this.result.links), number(own), *ratios]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def _cells(of: Callable[[Row | None], str], icache: bool, names: Sequence[str]) -> str:
    lines = [f"| row | kernel | {' | '.join(LEVELS)} |", "|---|---|" + "--:|" * len(LEVELS)]
    for name, (kernel, title) in product(names, KERNELS.items()):
        cells = [of(run(kernel, level).row(name, icache)) for level in LEVELS]
        first = name if kernel == next(iter(KERNELS)) else ""
        lines.append(f"| {first} | {title} | {' | '.join(cells)} |")
    return "\n".join(lines)


def cycles(names: Sequence[str], icache: bool) -> str:
    """Net cycles of one operation by level, the least and the most over the links."""
    return _cells(lambda row: between(nets(row)), icache, names)


def instructions(names: Sequence[str]) -> str:
    """Net instructions of one operation by level."""
    return _cells(lambda row: number(retired(row)), False, names)


def every_row(level: str = UPSTREAM) -> str:
    """The rows that touch the kernel, of each kernel at one level; of a benchmark with several its
    first and its last."""
    heads = [
        f"{title}, i-cache {ICACHE[icache]}"
        for icache in (True, False)
        for title in KERNELS.values()
    ]
    lines = [f"| row | {' | '.join(heads)} |", "|---|" + "--:|" * len(heads)]
    known = catalogues.load()
    ids = [one.id for one in known.benchmarks.values() if one.touches == "kernel"]
    runs = [run(kernel, level) for kernel in KERNELS]
    rows = [known.rows([id_]) for id_ in ids]
    for id_, params in (row for of_one in rows for row in (of_one[0], *of_one[1:][-1:])):
        name = catalogues.label(id_, params)
        cells = [between(nets(one.row(name, icache))) for icache in (True, False) for one in runs]
        if any(cell != "-" for cell in cells):
            lines.append(f"| {name} | {' | '.join(cells)} |")
    return "\n".join(lines)


def picture() -> bytes:
    """Cycles against bytes, a point a kernel and level, a bar from the least to the most over the
    links: as SVG, the same bytes for the same results."""
    with mpl.rc_context(plot.STYLE):
        links = condition()
        board = run(next(iter(KERNELS)), UPSTREAM).board
        notes = [
            "results/opt: " + ", ".join(f"{kernel}-{{{','.join(LEVELS)}}}" for kernel in KERNELS),
            f"links: {links} · {board.machine}, {board.clock} · timing: {board.validity}",
        ]
        sheet = plot.Sheet("Speed against size, by opt-level", notes, 2, len(DRAWN), 2.5)
        for (icache, name), axes in zip(product((True, False), DRAWN), sheet.panels, strict=True):
            top = 0.0
            for style, (kernel, title) in zip(plot.STYLES, KERNELS.items(), strict=False):
                runs = [run(kernel, level) for level in LEVELS]
                x = [(one.kernel.flash_bytes or 0) / 1024 for one in runs]
                found = [nets(one.row(name, icache)) for one in runs]
                middle = [one.row(name, icache) for one in runs]
                y = [(row.per_op if row else None) or 0.0 for row in middle]
                bars = [
                    [at - min(some) for at, some in zip(y, found, strict=True)],
                    [max(some) - at for at, some in zip(y, found, strict=True)],
                ]
                axes.errorbar(x, y, yerr=bars, label=title, capsize=2.5, elinewidth=1, **style)
                # The baseline's points lie too close for four letters; master's lie left of 2.2's.
                told = (LEVELS[0], LEVELS[-1]) if kernel == "baseline" else LEVELS
                off = (-8, -9) if kernel == "tock-master" else (5, 3)
                for level, a, b in zip(LEVELS, x, y, strict=True):
                    if level in told:
                        axes.annotate(level, (a, b), off, textcoords="offset points", fontsize=7)
                top = max(top, *(max(some) for some in found))
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
        return plot.rendered(sheet, "svg")
