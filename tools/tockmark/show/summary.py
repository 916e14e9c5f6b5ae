# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The first screen, in lmbench's manner: what the operations cost that people ask for first, the
kernels side by side. All rows are table.py's.
"""

import shutil
from collections import Counter
from dataclasses import dataclass, replace
from functools import cached_property

from tockmark.compare.rule import kernel_mean
from tockmark.result.model import Result, Row, ratio
from tockmark.result.provenance import Kernel
from tockmark.show import text
from tockmark.show.table import OUR_OWN, apart, layouts, mark, readings, sections, spread
from tockmark.suite.catalogue import ICACHE, LANGS, Catalogue, Lang, RowKey, row_key
from tockmark.suite.selection import Blocks, Selection, screen

LABEL = 26  # at least
CYCLES, RATIO = 10, 6  # widths of the columns of a kernel, each with a blank before it
TIME, RANGE = 9, 14  # and of the one behind the cycles: the same in µs, or their range over layouts
BUILT = 40  # characters of how a kernel was built; --all shows the rest
NARROW = 80
NOTHING = "None of the rows of this screen is here; --all shows every row that is."


@dataclass(frozen=True)
class Column:
    """A result of one language as a column: under which name, and with which cache setting."""

    name: str
    result: Result
    icache: bool | None

    @property
    def lang(self) -> Lang:
        return self.result.langs[0]

    @property
    def timed(self) -> bool:
        """Whether there are cycles in it."""
        return self.result.provenance.board.counts_cycles

    @cached_property
    def rows(self) -> dict[RowKey, Row]:
        return self.result.column(self.icache, self.lang)


def width_of_terminal() -> int:
    """Between 80 and 100 columns, as the terminal is."""
    return min(text.LINE, max(NARROW, shutil.get_terminal_size((text.LINE, 24)).columns))


def chosen(wanted: Selection, results: list[Result]) -> Blocks:
    """In place of them those that are meant, by section."""
    rows = {
        row.key[:2]: row
        for result in results
        for row in result.table.values()
        if wanted.fits(row.id, row.params, row.icache, row.lang)
    }
    return {
        section: {line.label: row_key(line.id, line.params) for line in lines}
        for section, lines in sections([rows], wanted.catalogue)
    }


def render(
    named: list[tuple[str, Result]],
    catalogue: Catalogue,
    width: int = text.LINE,
    blocks: Blocks | None = None,
) -> str:
    """The screen, or other rows in its manner; at most `width` columns."""
    named = apart(named)
    columns = _columns([result for _, result in named])
    blocks = _there(screen(catalogue) if blocks is None else blocks, columns)
    longest = max([LABEL, *(len(words) + 4 for block in blocks.values() for words in block)])
    label = min(longest, width - _wide(0, columns[:2], 0))
    second = RANGE if any(column.result.layouts > 1 for column in columns) else TIME
    if _wide(label, columns, second) > width:
        second = 0
    if len(named) > 1:
        names = short_names(named, CYCLES + second + RATIO - 1)
        columns = [replace(column, name=name) for column, name in zip(columns, names, strict=True)]
    some = len(columns) if second else _fit(label, width)
    out = _header(columns, width)
    if blocks:
        out += [*text.wrap(_legend(columns, second), "", width), ""]
        for at in range(1, max(2, len(columns)), max(1, some - 1)):
            out += _block(
                [columns[0], *columns[at : at + max(1, some - 1)]], catalogue, second, blocks, label
            )
    else:
        out += [*text.wrap(NOTHING, "", width), ""]
    names = [columns[0].name] if len(named) == 1 else [column.name for column in columns]
    for name, (_, result) in zip(names, named, strict=True):
        if why := result.incomplete:
            more = f" (and {len(why) - 1} more)" if len(why) > 1 else ""
            out += text.wrap(f"INCOMPLETE {name}: {why[0]}{more}", width=width)
    return "\n".join(out).rstrip() + "\n"


def _there(blocks: Blocks, columns: list[Column]) -> Blocks:
    """The rows that some column has."""
    found = {
        title: {
            words: key
            for words, key in rows.items()
            if any(key in column.rows for column in columns)
        }
        for title, rows in blocks.items()
    }
    return {title: rows for title, rows in found.items() if rows}


def _columns(results: list[Result]) -> list[Column]:
    """A column a result, with one cache setting for all if they have one in common, else each with
    its own first. One result alone has a column for each of its settings."""
    if len(results) == 1:
        (only,) = results
        return [Column(f"i-cache {ICACHE[icache]}", only, icache) for icache in only.icaches[:2]]
    common = [c for c in results[0].icaches if all(c in result.icaches for result in results)]
    icaches = [common[0] if common else result.icaches[0] for result in results]
    return [Column("", *c) for c in zip(results, icaches, strict=True)]


def short_names(named: list[tuple[str, Result]], room: int) -> list[str]:
    """What tells the results apart in so many letters: the kernels' names, if need be with the
    language, the version of the interface, in full, or with the machine; or the files' names, or
    letters."""
    found = [(_short(result), result.provenance) for _, result in named]
    kernels = Counter(kernel for kernel, _ in found)
    spoken = [LANGS[result.langs[0]] for _, result in named]
    for names in (
        [kernel for kernel, _ in found],
        spoken if len(kernels) == 1 else [],
        [
            f"{kernel} {lang}" if kernels[kernel] > 1 else kernel
            for (kernel, _), lang in zip(found, spoken, strict=True)
        ],
        [f"{kernel} v{said.abi}" for kernel, said in found],
        [kernel if said.kernel.is_baseline else said.kernel.title for kernel, said in found],
        [f"{kernel} {said.board.machine}" for kernel, said in found],
        [name.rpartition("/")[2].replace(".json", "") for name, _ in named],
    ):
        if len(set(names)) == len(named) and max(map(len, names)) <= room:
            return names
    return text.letters(len(named))


def _short(result: Result) -> str:
    kernel = result.provenance.kernel
    return "baseline" if kernel.is_baseline else kernel.title.partition(",")[0].partition(" (")[0]


def _header(columns: list[Column], width: int) -> list[str]:
    """Each kernel in a line or two, and below what they have in common."""
    results = {id(column.result): column for column in columns}
    alone = len(results) == 1
    indent = 0 if alone else max(len(column.name) for column in columns) + 2
    parts = [_conditions(column) for column in columns]
    same = [p[0] for p in zip(*parts, strict=True) if all(other == p[0] for other in p)]
    out: list[str] = []
    before = None
    for column in results.values():
        kernel = column.result.provenance.kernel
        again = kernel.sha256 is not None and kernel == before
        told = ["the same kernel" if again else _kernel(kernel)]
        told += [] if alone else [part for part in _conditions(column) if part not in same]
        told += [OUR_OWN] if kernel.is_baseline and not again else []
        told += readings(column.result)
        before = kernel
        line = "; ".join(told)
        out += text.wrap(f"{'' if alone else column.name:{indent}}{line}", " " * indent, width)
    return [*out, *text.wrap(", ".join(same), "", width), ""]


def _kernel(kernel: Kernel) -> str:
    """Its name, and how it was built."""
    sha = f", sha256 {kernel.sha256[:12]}" if kernel.sha256 else ""
    built = kernel.built if len(kernel.built) <= BUILT else f"{kernel.built[: BUILT - 1]}…"
    return f"{kernel.title}, {built}{sha}"


def _conditions(column: Column) -> list[str]:
    """Under which the figures hold."""
    provenance = column.result.provenance
    board, abi, compilers = provenance.board, provenance.abi, provenance.said("cc")
    return [
        f"{board.name or 'unknown board'} ({board.machine or '?'})",
        board.clock,
        f"i-cache {ICACHE[column.icache]}",
        f"interface version {abi or 'unknown'}",
        f"timing {board.validity}",
        layouts(column.result),
        f"apps by {' and '.join(compilers) or 'an unknown compiler'}",
    ]


def _wide(label: int, columns: list[Column], second: int) -> int:
    return label + len(columns) * (CYCLES + second) + (len(columns) - 1) * RATIO


def _fit(label: int, width: int) -> int:
    """How many columns fit, without times."""
    return max(2, 1 + (width - label - CYCLES) // (CYCLES + RATIO))


def _block(
    columns: list[Column], catalogue: Catalogue, second: int, blocks: Blocks, label: int
) -> list[str]:
    """All rows for some of the columns."""
    lines = {
        title: {words: [column.rows.get(key) for column in columns] for words, key in rows.items()}
        for title, rows in blocks.items()
    }
    every = [found for block in lines.values() for found in block.values()]
    grid = zip(
        *(_cells(i, every, second, columns[i].timed) for i in range(len(columns))), strict=True
    )
    out = _heads(columns, second, label)
    for title, found in lines.items():
        out.append(title)
        for words, cells in zip(found, grid, strict=False):  # the grid goes on in the next block
            out.append(f"  {text.shortened(words, label - 4):{label - 2}}{''.join(cells)}".rstrip())
    means = [_mean(columns[0], column, catalogue) for column in columns[1:]]
    if set(means) - {text.NONE}:
        blank = " " * (CYCLES + second)
        last = "".join(f"{blank}{text.right(text.coloured_ratio(mean), RATIO)}" for mean in means)
        out.append(f"{'Geometric mean':{label}}{blank}{last}")
    return [*out, ""]


def _heads(columns: list[Column], second: int, label: int) -> list[str]:
    """The kernels' names, each over its columns, and below what these are."""
    names, units = " " * label, " " * label
    for i, column in enumerate(columns):
        name = {TIME: "µs", RANGE: "range"}.get(second, "")
        counted = "cycles" if column.timed else "instrs"
        unit = f"{counted:>{CYCLES}}{name:>{second}}" + f"{'ratio':>{RATIO}}" * (i > 0)
        if len(column.name) < len(unit):
            names += f"{column.name:>{len(unit)}}"
        else:  # the first kernel's columns may be narrower than its name
            names = names[: len(units) + len(unit) - len(column.name)] + column.name
        units += unit
    return [names, units]


def _cells(i: int, rows: list[list[Row | None]], second: int, timed: bool) -> list[str]:
    """The cells of one column, row by row of a block."""
    mine = [found[i] for found in rows]
    costs = [text.rounded(_cost(row, timed)) if row else None for row in mine]
    cycles = text.aligned(costs, 2, [*map(mark, mine)])
    seconds = [""] * len(mine)
    if second == TIME:
        seconds = text.aligned([text.rounded(row.us) if row else None for row in mine], 2)
    elif second == RANGE:
        seconds = [spread(row, row.inner) if row else text.NONE for row in mine]
    cells = []
    for found, row, one, other in zip(rows, mine, cycles, seconds, strict=True):
        figure = text.bad(one) if mark(row) else one
        cell = f"{text.right(figure, CYCLES)}{other:>{second}}"
        by_first = text.coloured_ratio(text.ratio(ratio(found[0], row)))
        cells.append(cell + (text.right(by_first, RATIO) if i else ""))
    return cells


def _cost(row: Row, timed: bool) -> float | None:
    """Of one operation: cycles, or instructions where nothing counts cycles."""
    counted = row.cycles if timed else row.instret
    return counted.per_op if counted else None


def _legend(columns: list[Column], second: int) -> str:
    time = " and in µs" if second == TIME else ""
    told = f"Net cycles of one operation{time} (median, less the readings)"
    if second == RANGE:
        told += ", their median over the layouts and, where there are several, their range"
    if len(columns) > 1:
        told += (
            f"; ratio: by {columns[0].name}; geometric mean: over the benchmarks that touch the"
            " kernel, a sweep weighing as one"
        )
    if not all(column.timed for column in columns):
        told += "; instrs: net instructions, where the target counts no cycles"
    return f'{told}. Lower is better. "-": not measured; "!": an error. --all shows every row.'


def _mean(base: Column, new: Column, catalogue: Catalogue) -> str:
    return text.ratio(kernel_mean(base.rows, new.rows, catalogue))
