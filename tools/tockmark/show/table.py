# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Show the rows of results. The first screen compares kernels by the most common operations, in the
style of lmbench; other tables show every row of one or several results, and the core's events.

Results keep the order of the arguments, and ratios are to the first. Where kernels or
machines are too unlike (`unlike`), there is neither ratio nor mean, and the legend says so.
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product
from typing import Any, NamedTuple

from tockmark.compare.rule import kernel_mean
from tockmark.result.model import INVALID_ROW, Result, Row, common_icaches, range_ends, ratio
from tockmark.result.provenance import Kernel
from tockmark.show import text
from tockmark.show.text import Form, Table, TableColumn, figures, number
from tockmark.suite.catalogue import (
    COUNTERS,
    CYCLECOUNT,
    ICACHE,
    LANGS,
    OVERHEAD,
    PERF,
    Catalogue,
    Lang,
    Params,
    RowKey,
    label,
    lang_suffix,
    row_key,
)
from tockmark.suite.selection import Blocks, Selection, screen


@dataclass(frozen=True)
class TableLine:
    """One benchmark with its parameters, and its row in each result."""

    id: str
    params: Params
    rows: tuple[Row | None, ...]

    @property
    def label(self) -> str:
        return label(self.id, self.params)


RowsByKey = Mapping[RowKey, Row]  # of one result, cache setting and language


def sections(
    columns: Sequence[RowsByKey], catalogue: Catalogue
) -> list[tuple[str, list[TableLine]]]:
    """Return the rows of several columns side by side, by section in the catalogue's order. Rows
    that the catalogue does not have come last."""
    order = {row_key(i, p): (i, p) for i, p in catalogue.rows(catalogue.benchmarks)}
    order |= {key: (row.id, row.params) for column in columns for key, row in column.items()}
    lines = []
    for key, (id_, params) in order.items():
        cells = tuple(column.get(key) for column in columns)
        lines += [TableLine(id_, params, cells)] if any(cells) else []
    return catalogue.in_sections(lines, lambda line: line.id)


class Named(NamedTuple):
    """A result and its name in a legend."""

    name: str
    result: Result


def split_by_language(
    named: Iterable[tuple[str, Result]], langs: Sequence[Lang] | None = None
) -> list[Named]:
    """Split each result by language, and add the language to its name if it has several. `langs`
    selects languages; default: all."""
    return [
        Named(f"{name}, {LANGS[lang]}" if len(result.langs) > 1 else name, result.of_lang(lang))
        for name, result in named
        for lang in result.langs
        if langs is None or lang in langs
    ]


# The first screen.


COUNTED = {"cycles": "Cycles", "instrs": "instructions"}  # what a heading means
RAN = "ran"  # the heading if nothing is counted
LABEL = 26  # least width of a row's name
CYCLES, RATIO = 10, 6  # widths of a kernel's columns, with a blank before each
# Widths of the column after the cycles: µs, range over layouts, or the largest deviation in %.
TIME, RANGE, SHARE = 9, 14, 6
BUILT = 40  # characters of a kernel's build options; --all shows the rest
RATES = "RAM bandwidth in MB/s (higher is better)"  # the heading of rows that show rates
NOTHING = "There are no rows of the first screen; use --all for every row."


@dataclass(frozen=True)
class ResultColumn:
    """A result in one language and cache setting, as a column of a table."""

    name: str
    result: Result
    icache: bool | None

    @property
    def timed(self) -> bool:
        """Whether it has cycles."""
        return self.result.provenance.board.counts_cycles

    @property
    def counted(self) -> str:
        """The heading of its figures; RAN if it has none."""
        if self.timed:
            return "cycles"
        return "instrs" if self.result.provenance.has_figures else RAN

    @cached_property
    def rows(self) -> dict[RowKey, Row]:
        return self.result.column(self.icache, self.result.langs[0])

    def figure(self, row: Row | None, rate: bool, catalogue: Catalogue) -> float | None:
        """Return the cost of a row's operation, or its MB/s."""
        if row and rate:
            return row.mb_per_s(catalogue.bytes_moved(row.id, row.params))
        series = (row.cycles if self.timed else row.instret) if row else None
        return series.per_op if series else None


def selected_blocks(wanted: Selection, results: list[Result]) -> Blocks:
    """Return the selected rows by section, to show in the style of the first screen."""
    rows = {
        row.key[:2]: row
        for result in results
        for row in result.table.values()
        if wanted.includes(row)
    }
    return {
        section: {line.label: row_key(line.id, line.params) for line in lines}
        for section, lines in sections([rows], wanted.catalogue)
    }


def first_screen(
    named: Sequence[tuple[str, Result]],
    catalogue: Catalogue,
    width: int | None = None,
    blocks: Blocks | None = None,
    langs: Sequence[Lang] | None = None,
    form: Form = Form.TEXT,
    provenance: bool = True,
) -> str:
    """Return the first screen, at most `width` columns wide (default: the output's). `blocks`
    replaces its rows; `langs` selects languages (default: the leading one of each result)."""
    width = width or text.columns()
    several = sorted({lang for _, result in named for lang in result.langs[1:]})
    if langs is None:
        named = [(name, result.leading) for name, result in named]
    named = split_by_language(named, langs)
    columns = _columns([result for _, result in named])
    if blocks is None:
        blocks = screen(catalogue)
        blocks = blocks | {RATES: {"copy by memcpy": [*blocks.values()][-1]["memcpy 4 KiB"]}}
    keys = {key for column in columns for key in column.rows}
    blocks = {
        title: {words: key for words, key in rows.items() if key in keys}
        for title, rows in blocks.items()
        if not keys.isdisjoint(rows.values())
    }
    longest = max([LABEL, *(len(words) + 4 for block in blocks.values() for words in block)])
    label = min(longest, width - _table_width(0, columns[:2], 0))
    extra_width = RANGE if any(column.result.layouts > 1 for column in columns) else TIME
    if {column.counted for column in columns} == {RAN}:
        extra_width = 0
    if extra_width == RANGE and _table_width(label, columns, extra_width) > width:
        extra_width = SHARE
    if _table_width(label, columns, extra_width) > width:
        extra_width = 0
    if len(named) > 1:
        names = short_names(named, CYCLES + extra_width + RATIO - 1)
        columns = [replace(column, name=name) for column, name in zip(columns, names, strict=True)]
        columns = _with_levels(columns, CYCLES + extra_width + RATIO - 1)
    # At least two kernels fit without the extra column.
    all_fit = extra_width or form is not Form.TEXT
    fit = len(columns) if all_fit else max(2, 1 + (width - label - CYCLES) // (CYCLES + RATIO))
    out: list[str | Table] = [*_headline(columns, width)]
    if blocks:
        for at in range(1, max(2, len(columns)), max(1, fit - 1)):
            some = [columns[0], *columns[at : at + max(1, fit - 1)]]
            out.append(_block(some, catalogue, extra_width, blocks, label))
        also = [f"--lang also shows {', '.join(LANGS[lang] for lang in several)}."]
        legend = [*_screen_legend(columns, extra_width), *also * (langs is None and bool(several))]
        out += text.wrap(" ".join(legend), "", width)
    else:
        out += ["", *text.wrap(NOTHING, "", width)]
    out += ["", *_provenance(columns, width)] if provenance else []
    names = [columns[0].name] if len(named) == 1 else [column.name for column in columns]
    for name, (_, result) in zip(names, named, strict=True):
        if why := result.incomplete:
            more = f" (and {len(why) - 1} more)" if len(why) > 1 else ""
            out += text.wrap(f"INCOMPLETE {name}: {why[0]}{more}", width=width)
    return text.written(out, form)


def _columns(results: list[Result]) -> list[ResultColumn]:
    """Return one column per result, with the first cache setting that all have, else each with its
    own first. A single result has a column for each cache setting."""
    if len(results) == 1:
        settings = results[0].icaches[:2]
        return [
            ResultColumn(f"i-cache {ICACHE[icache]}", results[0], icache) for icache in settings
        ]
    common = common_icaches(results)
    icaches = [[*common, *result.icaches][0] for result in results]
    return [ResultColumn("", *c) for c in zip(results, icaches, strict=True)]


def short_names(named: Sequence[tuple[str, Result]], room: int) -> list[str]:
    """Return distinct names of at most `room` characters: the kernels' short names, if necessary
    with the language, the interface version or the machine, or in full; else the files' names; else
    letters."""
    provenances = [result.provenance for _, result in named]
    titles = [provenance.kernel.title for provenance in provenances]
    own = [provenance.kernel.is_baseline for provenance in provenances]
    short = [short_title(provenance.kernel) for provenance in provenances]
    langs = [LANGS[result.langs[0]] for _, result in named]
    kernels = Counter(short)
    for names in (
        short,
        langs if len(kernels) == 1 else [],
        [f"{k} {lang}" if kernels[k] > 1 else k for k, lang in zip(short, langs, strict=True)],
        [f"{k} v{provenance.abi}" for k, provenance in zip(short, provenances, strict=True)],
        [k if is_own else title for k, title, is_own in zip(short, titles, own, strict=True)],
        [f"{k} {provenance.board.chip}" for k, provenance in zip(short, provenances, strict=True)],
        [name.rpartition("/")[2].replace(".json", "") for name, _ in named],
    ):
        if len(set(names)) == len(named) and max(map(len, names)) <= room:
            return names
    return text.letters(len(named))


def _with_levels(columns: list[ResultColumn], room: int) -> list[ResultColumn]:
    """Append the opt-levels to the kernels' names if they differ and fit."""
    levels = [column.result.provenance.kernel.opt_level or "?" for column in columns]
    names = [f"{column.name} ({level})" for column, level in zip(columns, levels, strict=True)]
    if len(set(levels)) == 1 or max(map(len, names)) > room:
        return columns
    return [replace(column, name=name) for column, name in zip(columns, names, strict=True)]


def _headline(columns: list[ResultColumn], width: int) -> list[str]:
    """Return the title: what the figures are, and the conditions that all columns share."""
    alone = len({id(column.result) for column in columns}) == 1
    provenances = [column.result.provenance for column in columns]
    counted = {column.counted for column in columns}
    units = " or ".join(words for head, words in COUNTED.items() if head in counted)
    title = f"{text.sentence(units)} of one operation" if units else "Rows that ran (no figures)"
    levels = [provenance.kernel.opt_level for provenance in provenances]
    conditions = [
        [short_title(provenance.kernel) for provenance in provenances] if alone else [],
        [f"opt-level {level or 'unknown'}" for level in levels],
        *zip(*(_conditions(column)[:ABOVE] for column in columns), strict=True),
    ]
    same = [values[0] for values in conditions if values and len(set(values)) == 1]
    names = " ".join(column.name for column in columns)
    if len(set(levels)) > 1 and f"({levels[0]})" in names:
        same.append("opt-level in parentheses")
    return text.wrap(f"{title}: {', '.join(same)}", "", width)


def short_title(kernel: Kernel) -> str:
    """Return a kernel's short name."""
    return "baseline" if kernel.is_baseline else kernel.title.partition(",")[0].partition(" (")[0]


def _provenance(columns: list[ResultColumn], width: int) -> list[str]:
    """Return the provenance of each kernel, and then the conditions that all share."""
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
        built = text.beginning(kernel.built, BUILT)
        sha = f", sha256 {kernel.sha256[:12]}" if kernel.sha256 else ""
        title = kernel.title.removeprefix("" if alone else short_title(kernel)).lstrip(", ")
        kernel_line = ", ".join(filter(None, [title, built]))
        notes = ["the same kernel" if again else f"{kernel_line}{sha}"]
        notes += [] if alone else [part for part in _conditions(column) if part not in same]
        notes += [kernel.own] if kernel.own and not again else []
        notes += overhead_notes(column.result, column.result.icaches if alone else [column.icache])
        before = kernel
        line = "; ".join(notes)
        out += text.wrap(f"{'' if alone else column.name:{indent}}{line}", " " * indent, width)
    below = [part for part in same if part not in parts[0][:ABOVE]]
    return [*out, *text.wrap(", ".join(below), "", width), ""]


ABOVE = 3  # conditions in the title: board, clock and cache


def _conditions(column: ResultColumn) -> list[str]:
    """Return the conditions of a column's figures."""
    provenance = column.result.provenance
    board, abi, compilers = provenance.board, provenance.abi, provenance.app_values("cc")
    return [
        f"{board.name or 'unknown board'} ({board.title})",
        board.clock,
        f"i-cache {ICACHE[column.icache]}",
        f"interface version {abi or 'unknown'}",
        f"timing {board.validity}",
        format_layouts(column.result),
        f"apps by {' and '.join(compilers) or 'an unknown compiler'}",
    ]


def _table_width(label: int, columns: list[ResultColumn], extra_width: int) -> int:
    return label + len(columns) * (CYCLES + extra_width) + (len(columns) - 1) * RATIO


def _block(
    columns: list[ResultColumn], catalogue: Catalogue, extra_width: int, blocks: Blocks, label: int
) -> Table:
    """Return all rows for some of the columns, whose names are above the headings."""
    keys = [key for rows in blocks.values() for key in rows.values()]
    rates = [title == RATES for title, rows in blocks.items() for _ in rows]
    first = [None if rate else columns[0].rows.get(k) for k, rate in zip(keys, rates, strict=True)]
    heads = [TableColumn("", label, 0, left=True)]
    grid: list[list[str]] = []
    means = ["Geometric mean"]
    for i, column in enumerate(columns):
        column_rows = [column.rows.get(key) for key in keys]
        rated = [*zip(column_rows, rates, strict=True)]
        costs = [text.three_digits(column.figure(*pair, catalogue)) for pair in rated]
        marked = _marked(text.aligned(costs, marks=[*map(error_mark, column_rows)]), column_rows)
        if column.counted == RAN:
            marked = [f"yes{error_mark(row)}" if row else text.NONE for row in column_rows]
        column_rows = [None if rate else row for row, rate in rated]
        parts = {column.counted: (CYCLES, marked)}
        if extra_width == TIME:
            times = _values(column_rows, lambda row: text.three_digits(row.us))
            parts["µs"] = TIME, text.aligned(times)
        elif extra_width == RANGE:
            parts["range"] = (
                RANGE,
                [format_range(row, row.inner) if row else text.NONE for row in column_rows],
            )
        elif extra_width == SHARE:
            parts["±%"] = SHARE, [_format_deviation(row) for row in column_rows]
        means += [""] * len(parts)
        if i and not unlike(columns[0].result, column.result):
            ratios = [_ratio(*both) for both in zip(first, column_rows, strict=True)]
            parts["ratio"] = RATIO, ratios
            mean = text.ratio(kernel_mean(columns[0].rows, column.rows, catalogue))
            means.append(text.coloured_ratio(mean))
        last = list(parts)[-1]
        own = sum(width for width, _ in parts.values())
        missing = max(0, len(column.name) + 1 - own) if i else 0
        parts[last] = parts[last][0] + missing, parts[last][1]
        heads += figures({f"{column.name}\n{head}": w for head, (w, _) in parts.items()}, gap=0)
        grid += [cells for _, cells in parts.values()]
    table, rows = Table(heads), zip(*grid, strict=True)
    for title, block in blocks.items():
        table.add(title)
        for words in block:
            table.add(f"  {words}", *next(rows))
    if set(means[1:]) - {"", text.NONE}:
        table.add(*means)
    table.heads = _heads(columns, table)
    return table


def _heads(columns: Sequence[ResultColumn], table: Table) -> list[str]:
    """Return the headings of a block as text: the kernels' names, and what each column has."""
    names, end = "", 0
    heads = [head.name.partition("\n") for head in table.columns]
    for column in columns:
        end = max(at for at, head in enumerate(heads) if head[0] == column.name)
        # The first kernel's name may be wider than its columns.
        start = sum(head.width for head in table.columns[: end + 1]) - len(column.name)
        names = f"{names[:start]:{start}}{column.name}"
    return [names, table.line([head for *_, head in heads])]


def unlike(base: Result, result: Result) -> str:
    """Return the conditions whose effects a ratio of two results would mix; "" without any."""
    sides = [side.provenance for side in (base, result)]
    kernels = [side.kernel for side in sides]
    levels = {kernel.opt_level for kernel in kernels} - {None}
    differing: dict[str, set[Any]] = {
        "machine": {(side.board.machine, side.board.clock_hz) for side in sides},
        "counter": {side.counter for side in sides},
        "interface version": {side.abi for side in sides},
        "kernel and opt-level": levels if kernels[0].title != kernels[1].title else set(),
    }
    return ", ".join(name for name, values in differing.items() if len(values) > 1)


def _values(
    rows: Sequence[Row | None], figure: Callable[[Row], float | None]
) -> list[float | None]:
    """Return a figure of each row; None for an absent row."""
    return [figure(row) if row else None for row in rows]


def _ratio(base: Row | None, row: Row | None) -> str:
    return text.coloured_ratio(text.ratio(ratio(base, row)))


def _screen_legend(columns: list[ResultColumn], extra_width: int) -> list[str]:
    """Return the legend below the first screen."""
    notes = ["Medians without measurement overhead; lower is better."]
    if extra_width == RANGE:
        notes += ["Range: least to most over links and layouts (†: a control is subtracted there)."]
    elif extra_width == SHARE:
        notes += ["±%: the largest deviation of a link or layout from the median."]
    reasons = [unlike(columns[0].result, column.result) for column in columns[1:]]
    if not all(reasons):
        notes += [
            f"Ratio: to {columns[0].name}. Geometric mean: of benchmarks that touch the kernel."
        ]
    for why, column in zip(reasons, columns[1:], strict=True):
        notes += [f"{column.name} has no ratio to {columns[0].name}: other {why}."] * bool(why)
    counted = {column.counted for column in columns}
    if "instrs" in counted:
        notes += ["instrs: instructions, because the target counts no cycles."]
    if counted == {RAN}:
        return ["ran: the row ran without an error. This target counts nothing. -: not run."]
    return [*notes, "-: not measured. !: an error. --all shows every row."]


# Every row of one result or of several.


NAME = TableColumn("", 35, 0, left=True)
REASONS = 10  # at most this many reasons of an incomplete result
CHUNK = 3  # at most this many results next to the first in one table

COLUMNS = {"net cyc": 8, "net ins": 7, "per op": 9, "µs/op": 8, "MB/s": 5, "steady": 6}
RANGE_COLUMN = {"range": 13}  # after the net, if there are several layouts
RAW = {"cycles": 8, "instr": 6}  # at the end, with one cache setting
SPARE = ("MB/s", "off/on", "µs/op", "instr", "cycles", "steady")  # omitted first in a narrow table
OTHER = {"off: net": 8, "off/on": 6}  # at the end, with both cache settings

LEGEND = """\
net cyc, ins   median of the steady samples minus time.read of the same boot; the cold first \
sample does not count. time.read itself is as measured. "!": an error, named below
per op         net cycles of one inner operation; the line below a section names the operation
µs/op          the same in microseconds at the clock above. MB/s: 10^6 bytes per second
steady         "=" all steady samples are equal; "p2" to "p4" they repeat with this period; "~5" \
they repeat from sample 5 on; "~" they vary; "1" there is only one; "w" they wander: the end \
differs from the beginning. Below a section: least, median and most of the rows that no single \
figure represents"""
RANGES = """\
range          least and most net cycles over the layouts; net cyc and ins are their medians. \
"-": one layout only; "†": a control is subtracted there. "steady" is of the first"""
OFF = """\
off: net       net cycles with the i-cache off; the columns to the left are with the i-cache on"""
LAST = 'Lower is better in every column except MB/s. "-": not measured.'

SIDE_BY_SIDE = (
    "Net cycles of one operation (median minus time.read of the same boot; time.read as measured)"
    " and their ratio to A, unless machine, interface version, or kernel and opt-level differ."
    ' Lower is better. "-": not measured. "!": an error, so no ratio.'
)

# Ibex's event counters, by the counter's number in its documentation.
_EVENTS = "ld/st", "fetch", "loads", "stores", "jumps", "branch", "taken", "16-bit", "mul", "div"
EVENTS = dict(enumerate(_EVENTS, 3))
EVENT_WIDTH = 5  # least width of a column
EVENTS_LEGEND = """\
Events of one sample: the median, without the counter reads; time.read as measured. "!": the row \
has an error, named below.
ld/st, fetch   cycles of waiting for data memory, for an instruction
mul, div       cycles of waiting for the multiplier, for the divider
loads, stores, jumps, branch (conditional), taken (branches), 16-bit (instructions): counts"""


def every_row(result: Result, catalogue: Catalogue, form: Form = Form.TEXT) -> str:
    """Return all rows of one result with all columns."""
    caches = result.icaches[:2]
    several = result.layouts > 1
    both = len(caches) > 1 and not several
    legend = [*LEGEND.splitlines(), *OFF.splitlines() * both, *RANGES.splitlines() * several]
    out: list[str | Table] = [*header(result), "", *legend, LAST, ""]
    for lang in result.langs:
        for some in [[cache] for cache in caches] if several else [caches]:
            title = [LANGS[lang]] * (len(result.langs) > 1)
            title += [f"i-cache {ICACHE[some[0]]}"] * several
            out += [text.sentence(", ".join(title)), ""] if title else []
            out += _sections([result.column(cache, lang) for cache in some], several, catalogue)
    out += _overheads(result)
    out += _errors(result.rows)
    why = [reason for reason in result.incomplete if not reason.startswith(INVALID_ROW)]
    out += [f"{text.bad('INCOMPLETE')} {reason}" for reason in why[:REASONS]]
    out += [f"INCOMPLETE and {len(why) - REASONS} more"] if len(why) > REASONS else []
    out += skipped_lines(result)
    return text.written(out, form)


def _sections(shown: list[RowsByKey], several: bool, catalogue: Catalogue) -> list[str | Table]:
    """Return rows of one cache setting, or of two side by side; `several`: with ranges over
    layouts."""
    both = len(shown) > 1
    net, *rest = COLUMNS.items()
    widths = dict([net, *RANGE_COLUMN.items(), *rest]) if several else dict(COLUMNS)
    widths |= OTHER if both else {} if several else RAW
    out: list[str | Table] = []
    for section, lines in sections(shown, catalogue):
        first = [line.rows[0] for line in lines]
        rates = _values(first, lambda row: row.mb_per_s(catalogue.bytes_moved(row.id, row.params)))
        nets = text.aligned(_values(first, lambda row: row.net), 1, [*map(error_mark, first)])
        grid = [
            [line.label for line in lines],
            _marked(nets, first),
            *([[format_range(row) if row else text.NONE for row in first]] * several),
            text.aligned(_values(first, lambda row: row.instructions), 1),
            text.aligned(_values(first, lambda row: text.rounded(row.per_op))),
            text.aligned(_values(first, lambda row: text.rounded(row.us)), 2),
            text.aligned(rates, 2),
            [(row.steadiness if row else None) or text.NONE for row in first],
        ]
        if both:
            other = [line.rows[1] for line in lines]
            shown_nets = [number(row.net if row else None) + error_mark(row) for row in other]
            ratios = [_ratio(*line.rows) for line in lines]
            grid += [_marked(shown_nets, other), ratios]
        elif not several:
            grid += [list(column) for column in zip(*map(_raw, first), strict=True)]
        heads = figures(widths, spare=SPARE)
        notes = [*_units([line.id for line in lines], catalogue), *_ranges(first, catalogue)]
        table = Table([NAME, *heads], zip(*grid, strict=True), section)
        out += [table, *notes, *[""] * bool(notes)]
    return out


def side_by_side(
    named: Sequence[tuple[str, Result]],
    catalogue: Catalogue,
    width: int | None = None,
    form: Form = Form.TEXT,
) -> str:
    """Return net cycles of one operation in several results, and their ratios to the first."""
    named = split_by_language(named)
    letters, width = text.letters(len(named)), width or text.columns()
    out: list[str | Table] = []
    for letter, (name, result) in zip(letters, named, strict=True):
        why = result.incomplete
        notes = [f"INCOMPLETE: {why[0]} ({len(why)} in all)"] if why else []
        out.append(f"{letter} = {name}")
        for line in [*header(result), *notes]:
            out += text.wrap(f"    {line}", " " * 12, width)
    out += ["", *text.wrap(SIDE_BY_SIDE, "", width), ""]
    fit = max(1, min(CHUNK, (width - text.NAME - 11) // 19))
    fit = fit if form is Form.TEXT else len(named)
    mixed = {
        name
        for name, (_, result) in zip(letters, named, strict=True)
        if unlike(named[0][1], result)
    }
    for icache in (True, False, None):
        columns = [result.column(icache, result.langs[0]) for _, result in named]
        if not any(columns):
            continue
        out += [f"I-cache {ICACHE[icache]}", ""]
        for at in range(1, len(named), fit):
            some = [0, *range(at, min(at + fit, len(named)))]
            out += _side_by_side({letters[i]: columns[i] for i in some}, catalogue, mixed)
    return text.written(out, form)


def _side_by_side(
    shown: dict[str, RowsByKey], catalogue: Catalogue, mixed: Collection[str]
) -> list[Table]:
    base, *others = shown
    widths = {base: 10}
    for letter in others:
        widths |= {letter: 10, f"{letter}/{base}": 7}
    out = []
    for section, lines in sections(list(shown.values()), catalogue):
        table = Table([NAME, *figures(widths)], title=section)
        for line in lines:
            costs = [number(row.per_op if row else None, 3) + error_mark(row) for row in line.rows]
            first, *rest = _marked(costs, line.rows)
            ratios = [
                text.NONE if letter in mixed else _ratio(line.rows[0], row)
                for letter, row in zip(others, line.rows[1:], strict=True)
            ]
            pairs = (cell for both in zip(rest, ratios, strict=True) for cell in both)
            table.add(line.label, first, *pairs)
        out.append(table)
    return out


def event_counts(result: Result, catalogue: Catalogue, form: Form = Form.TEXT) -> str:
    """Return the event counts of each row, without the events of the counter reads."""
    out: list[str | Table] = [*header(result), "", *EVENTS_LEGEND.splitlines(), ""]
    columns = [NAME, *figures({name: max(EVENT_WIDTH, len(name)) for name in EVENTS.values()})]
    counted = replace(result, rows=tuple(row for row in result.rows if row.events))
    if not counted.table:
        out.append("No row has events, because this kernel's Perf driver does not count them.")
    for lang, icache in product(result.langs, result.icaches) if counted.table else []:
        title = [LANGS[lang]] * (len(result.langs) > 1) + [f"i-cache {ICACHE[icache]}"]
        out += [text.sentence(", ".join(title)), ""]
        for section, lines in sections([counted.column(icache, lang)], catalogue):
            table = Table(columns, title=section)
            for line in lines:
                (row,) = line.rows
                events = row.events if row else {}
                counts = [events[n].net if n in events else None for n in EVENTS]
                # Decimals matter only in small counts.
                cells = [number(n, 0 if n is not None and abs(n) >= 1000 else 1) for n in counts]
                table.add(line.label + error_mark(row), *cells)
            out.append(table)
    out += _errors(counted.table.values())
    return text.written(out, form)


def as_json(results: list[Result], catalogue: Catalogue) -> list[dict[str, object]]:
    """Return the rows as JSON: one entry per row, with the results in their order."""
    return [
        {
            "icache": icache,
            "lang": lang,
            "section": section,
            "id": line.id,
            "params": line.params,
            "results": [row and _row_json(row, catalogue) for row in line.rows],
        }
        for lang in LANGS
        for icache in (True, False, None)
        for section, lines in sections([r.column(icache, lang) for r in results], catalogue)
        for line in lines
    ]


def _row_json(row: Row, catalogue: Catalogue) -> dict[str, object]:
    """Return the figures of a row."""
    return {
        "boot": row.boot,
        "inner": row.inner,
        "cycles": row.net,
        "instructions": row.instructions,
        "cycles_per_op": row.per_op,
        "us_per_op": row.us,
        "mb_per_s": row.mb_per_s(catalogue.bytes_moved(row.id, row.params)),
        "cycles_by_layout": list(row.cycles.nets) if row.cycles else [],
        "steady": row.steadiness,
        "errors": list(row.errors),
    }


# The text above and below the rows.


def header(result: Result) -> list[str]:
    """Return the provenance of a result, above its rows."""
    provenance = result.provenance
    kernel, board = provenance.kernel, provenance.board
    sha = f" sha256 {kernel.sha256[:12]}" if kernel.sha256 else ""
    icache = " and ".join(ICACHE[setting] for setting in result.icaches)
    return [
        *text.wrap(f"kernel  {kernel.title}, {kernel.built}{sha}", " " * 8),
        *([f"        {kernel.own}"] if kernel.own else []),
        *text.wrap(f"apps    {', '.join(provenance.app_values('cc')) or 'unknown'}", " " * 8),
        f"board   {board.name or 'unknown'} ({board.title}), {board.clock}, i-cache {icache}",
        f"        {format_layouts(result)}",
        f"timing  {board.validity}{f', engine {board.simulated_by}' if board.simulated_by else ''}",
        *(
            line
            for note in overhead_notes(result)
            for line in text.wrap(f"reads   {note}", " " * 8)
        ),
        f"date    {provenance.date}, tockmark {provenance.tool.version}",
    ]


def overhead_notes(result: Result, icaches: Sequence[bool | None] | None = None) -> list[str]:
    """Return a note on the overhead and the largest offset of the controls, with these cache
    settings or all; nothing if the result has no overhead rows."""
    notes = []
    for lang, icache in product(result.langs, result.icaches if icaches is None else icaches):
        row = result.table.get((*row_key(OVERHEAD, {}), icache, lang))
        error = result.control_error(icache, lang)
        if row is not None and row.net is not None:
            error_text = "no null controls" if error is None else f"null controls ±{number(error)}"
            in_lang = f", {LANGS[lang]}" * (len(result.langs) > 1)
            notes.append(f"{number(row.net)} (i-cache {ICACHE[icache]}{in_lang}, {error_text})")
    counter = result.provenance.counter
    by = f" by {COUNTERS[counter]}" if counter != PERF else ""
    by += ", which counts no instructions" if counter == CYCLECOUNT else ""
    return [f"{OVERHEAD}{by}: {', '.join(notes)}"] if notes else []


def format_layouts(result: Result) -> str:
    """Format the number of layouts and links."""
    if result.layouts == 1:
        return "one layout"
    links = f" of {result.links} links of the kernel" if result.links > 1 else ", of the apps alone"
    return f"{result.layouts} layouts{links}"


def format_range(row: Row, inner: int = 1) -> str:
    """Format the ends over the layouts, divided by `inner`."""
    if row.cycles is None or len(row.cycles.nets) < 2:
        return text.NONE
    ends = [f"{number(text.three_digits(net / inner), 2)}{m}" for net, m in range_ends(row)]
    return "–".join(dict.fromkeys(ends))


def _format_deviation(row: Row | None) -> str:
    """Format the largest deviation of a layout's net from the median, in percent."""
    nets = row.cycles.nets if row is not None and row.cycles is not None else ()
    if len(nets) < 2 or row is None or not row.net or row.net <= 0:
        return text.NONE
    return text.percentage(max(abs(net / row.net - 1) for net in nets), digits=1)


def skipped_lines(result: Result) -> list[str]:
    """Return a line for each benchmark that was skipped, with the reason."""
    reasons = dict.fromkeys((absent.id, absent.lang, absent.why) for absent in result.skipped)
    return [f"skipped {id_}{lang_suffix(lang)}: {why}" for id_, lang, why in reasons]


def _errors(rows: Iterable[Row]) -> list[str]:
    return [
        f"{text.bad('ERROR')} {row.label}, i-cache {ICACHE[row.icache]}"
        f"{lang_suffix(row.lang)}: {error}"
        for row in rows
        for error in row.errors
    ]


def _units(ids: list[str], catalogue: Catalogue) -> list[str]:
    """Return a line that names the inner operations of samples with several."""
    units: dict[str, list[str]] = {}
    for id_ in dict.fromkeys(ids):
        benchmark = catalogue.benchmarks.get(id_)
        if benchmark and benchmark.inner > 1:
            units.setdefault(f"{benchmark.unit} ({benchmark.inner})", []).append(id_)
    return _note(
        "op", [f"{unit} in {', '.join(ids_of_unit)}" for unit, ids_of_unit in units.items()]
    )


def _ranges(rows: list[Row | None], catalogue: Catalogue) -> list[str]:
    """Return a line with the least, the median and the largest net of each distribution."""
    notes = []
    for row in rows:
        if row is None or not (row.wanders or catalogue.is_distribution(row.id, row.icache)):
            continue
        if row.cycles and (net_range := row.cycles.net_range):
            notes.append(f"{row.label} {'–'.join(map(number, net_range))}")
    return _note("net cyc", notes)


def _raw(row: Row | None) -> list[str]:
    """Format cycles and instructions as measured."""
    both = (row.cycles, row.instret) if row else (None, None)
    return [number(series.median if series else None) for series in both]


def _marked(figures_: Sequence[str], rows: Sequence[Row | None]) -> list[str]:
    """Return the figures, coloured if their row has an error."""
    return [
        text.bad(figure) if error_mark(row) else figure
        for figure, row in zip(figures_, rows, strict=True)
    ]


def error_mark(row: Row | None) -> str:
    """Return the mark behind a figure: "!" if its row has an error."""
    return "!" if row is not None and row.errors else ""


def _overheads(result: Result) -> list[str]:
    """Return a line with the overheads that were subtracted, grouped by boots with equal ones."""
    boots: dict[str, list[str]] = {}
    for row in result.rows:
        if row.id == OVERHEAD:
            cost = f"{'/'.join(_raw(row))} (i-cache {ICACHE[row.icache]}{lang_suffix(row.lang)})"
            boots.setdefault(cost, []).append(row.boot)
    costs = [f"{cost}: {', '.join(names)}" for cost, names in boots.items()]
    return _note("Overhead (time.read) by boot, cycles/instr", costs)


def _note(title: str, parts: list[str]) -> list[str]:
    """Return a titled note, wrapped; nothing without parts."""
    return text.wrap(f"{title}: {'; '.join(parts)}", "") if parts else []
